use proptest::prelude::*;

use super::*;

fn text(file: &[u8]) -> String {
    String::from_utf8_lossy(file).into_owned()
}

#[test]
fn a_block_is_put_replaced_and_taken() {
    let one = put(b"mine", "p-a", &inner("Use pnpm.", 7, "2026-11-28")).unwrap();
    assert_eq!(
        text(&one.file),
        "mine\n\n<!-- totalrecall:rule p-a 89fffed0 -->\n- Use pnpm.\n<!-- seen in 7 sessions, last on 2026-11-28 -->\n\
         <!-- /totalrecall:rule p-a -->\n"
    );
    let two = put(&one.file, "p-b", &inner("Ask.", 1, "2026-11-28")).unwrap();
    assert_eq!(put(&two.file, "p-b", &inner("Ask.", 1, "2026-11-28")).unwrap().file, two.file, "twice is once");
    let replaced = put(&two.file, "p-a", &inner("Use pnpm 9.", 8, "2026-11-29")).unwrap();
    assert!(text(&replaced.file).contains("pnpm 9") && text(&replaced.file).contains("- Ask."));
    let left = take(&replaced.file, "p-a", one.gap, false).unwrap().unwrap();
    assert_eq!(text(&take(&left, "p-b", one.gap, false).unwrap().unwrap()), "mine");
    assert_eq!(take(b"mine", "p-a", 0, false), Ok(None));
}

#[test]
fn what_was_changed_by_hand_is_kept() {
    let put_in = put(b"", "p-a", &inner("Use pnpm.", 7, "2026-11-28")).unwrap();
    let edited = text(&put_in.file).replace("Use pnpm.", "Use pnpm, please.").into_bytes();
    assert_eq!(put(&edited, "p-a", &inner("Other.", 7, "2026-11-28")), Err(BlockError::Edited("p-a".into())));
    assert_eq!(take(&edited, "p-a", 0, false), Err(BlockError::Edited("p-a".into())));
    assert_eq!(take(&edited, "p-a", 0, true), Ok(Some(Vec::new())));
    // Other line endings are no change.
    let crlf = text(&put_in.file).replace('\n', "\r\n").into_bytes();
    assert_eq!(take(&crlf, "p-a", 0, false), Ok(Some(Vec::new())));
}

#[test]
fn a_block_without_its_end_is_left_alone() {
    for file in [
        "<!-- totalrecall:rule p-a 00000000 -->\n- x\nthe person's own words\n",
        "<!-- totalrecall:rule p-a 0 -->\n- x\n<!-- totalrecall:rule p-b 0 -->\n<!-- /totalrecall:rule p-b -->\n",
    ] {
        assert_eq!(take(file.as_bytes(), "p-a", 0, true), Err(BlockError::Open("p-a".into())));
        assert_eq!(put(file.as_bytes(), "p-a", "- y\n"), Err(BlockError::Open("p-a".into())));
    }
    // An end without a beginning is text.
    assert_eq!(blocks(b"<!-- /totalrecall:rule p-a -->\n"), Ok(Vec::new()));
}

/// Files as people have them: any bytes, with the lines that matter among them.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "(a|b|\n|\r\n|\n\n| |\u{feff}|```|<!-- x -->)".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
        1 => Just(b"<!-- totalrecall:rule p-x 0 -->\n".to_vec()),
        1 => Just(b"<!-- /totalrecall:rule p-x -->\n".to_vec()),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Whatever is in the file, and in whatever order rules go: in the end it is what it was.
    #[test]
    fn taking_out_gives_back_every_byte(before in file(), count in 1_usize..4, order in any::<u64>()) {
        prop_assume!(blocks(&before).is_ok_and(|blocks| blocks.is_empty()));
        let (mut now, mut gap) = (before.clone(), 0);
        let mut ids: Vec<String> = (0..count).map(|n| format!("p-{n}")).collect();
        for id in &ids {
            let put = put(&now, id, &inner("Do this.", 3, "2026-11-28")).unwrap();
            gap += put.gap;
            prop_assert!(put.file.len() > now.len());
            now = put.file;
            prop_assert_eq!(&super::put(&now, id, &inner("Do this.", 3, "2026-11-28")).unwrap().file, &now);
        }
        prop_assert_eq!(blocks(&now).unwrap().len(), count);
        prop_assert!(now.starts_with(&before));
        while !ids.is_empty() {
            let id = ids.swap_remove(order as usize % ids.len());
            now = take(&now, &id, gap, false).unwrap().unwrap();
        }
        prop_assert_eq!(now, before);
    }

    /// What was written around the blocks since is still there.
    #[test]
    fn later_words_stay(before in "[a-c\n]{0,12}", after in "[d-f\n]{0,12}") {
        let put = put(before.as_bytes(), "p-1", &inner("Do this.", 3, "2026-11-28")).unwrap();
        let mut now = b"top\n".to_vec();
        now.extend_from_slice(&put.file);
        now.extend_from_slice(after.as_bytes());
        let left = text(&take(&now, "p-1", put.gap, false).unwrap().unwrap());
        prop_assert!(left.starts_with(&format!("top\n{before}")) && left.ends_with(&after), "{left:?}");
        prop_assert!(after.is_empty() || before.is_empty() || left.len() == 4 + before.len() + put.gap + after.len());
    }

    #[test]
    fn nothing_panics(file in file(), id in "(p-x|p-y)") {
        let _ = put(&file, &id, "- x\n");
        let _ = take(&file, &id, 3, true);
    }
}
