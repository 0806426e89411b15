//! What makes no difference to the meaning of a word.

use super::is_wide;

/// Case, accents, width, typographic marks and the commonest Traditional characters folded.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'à' | 'â' | 'ä' | 'á' | 'ã' | 'À' | 'Â' | 'Á' | 'Ä' => folded.push('a'),
            'é' | 'è' | 'ê' | 'ë' | 'É' | 'È' | 'Ê' => folded.push('e'),
            'î' | 'ï' | 'í' | 'Î' => folded.push('i'),
            'ô' | 'ö' | 'ó' | 'Ô' | 'Ö' => folded.push('o'),
            'û' | 'ü' | 'ù' | 'ú' | 'Ü' => folded.push('u'),
            'ç' | 'Ç' => folded.push('c'),
            'œ' | 'Œ' => folded.push_str("oe"),
            '’' | '‘' | '`' | '´' => folded.push('\''),
            '。' | '…' | '．' | '｡' => folded.push('.'),
            '，' | '、' | '—' | '–' => folded.push(','),
            '？' => folded.push('?'),
            '！' => folded.push('!'),
            '；' => folded.push(';'),
            '：' => folded.push(':'),
            '（' => folded.push('('),
            '）' => folded.push(')'),
            '\u{FF21}'..='\u{FF5A}' | '\u{FF10}'..='\u{FF19}' => {
                folded.extend(char::from_u32(c as u32 - 0xFEE0).map(|c| c.to_ascii_lowercase()));
            }
            c if c.is_ascii() => folded.push(c.to_ascii_lowercase()),
            c if is_wide(c) => folded.push(simplified(c)),
            c => folded.extend(c.to_lowercase()),
        }
    }
    folded
}

fn simplified(c: char) -> char {
    let pair = TRADITIONAL.chars().zip(SIMPLIFIED.chars()).find(|(traditional, _)| *traditional == c);
    pair.map_or(c, |(_, simplified)| simplified)
}

/// Characters outside of words that say how a sentence is meant.
pub(super) fn speaks(c: char) -> bool {
    matches!(
        c,
        '🙄' | '🙃'
            | '😬'
            | '😤'
            | '😡'
            | '😠'
            | '🤯'
            | '🤦'
            | '😑'
            | '🤨'
            | '😒'
            | '👍'
            | '👌'
            | '🎉'
            | '❤'
            | '🙏'
    )
}

/// Whether an apostrophe after this word ends it, as in French.
pub(super) fn elides(word: &str) -> bool {
    matches!(
        word,
        "c" | "d"
            | "j"
            | "l"
            | "m"
            | "n"
            | "s"
            | "t"
            | "qu"
            | "lorsqu"
            | "puisqu"
            | "jusqu"
            | "quelqu"
            | "quoiqu"
            | "presqu"
    )
}

// Only characters that the constructions use: a full table would cost more than it finds.
const TRADITIONAL: &str = "對應該還為錯誤這個說請沒樣麼會後來讓開關動刪檔實際話過問題們時間現結無須別買換嗎點幫舊復許決處給從運壞舉寫確繼續當聽覺嚐試裡裏謝讚極測錄標鐘邊與兩單導頁齊齋亂壓縮緊鬆擇選將專剛條據輸詢語調詞簡雙圖連線網資訊號碼驗證執產層類屬僅衝區參儘盡唄囉顯變減較擔憂煩乾淨醜長";
const SIMPLIFIED: &str = "对应该还为错误这个说请没样么会后来让开关动删档实际话过问题们时间现结无须别买换吗点帮旧复许决处给从运坏举写确继续当听觉尝试里里谢赞极测录标钟边与两单导页齐斋乱压缩紧松择选将专刚条据输询语调词简双图连线网资讯号码验证执产层类属仅冲区参尽尽呗啰显变减较担忧烦干净丑长";
