//! What the agent's texts say: before the turn, that it is done or asks; after the turn, that it gives in.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::evidence::{Case, Evidence};
use crate::language::{Patterns, Tokens};
use crate::text::{one_line, truncate};

/// Characters of a reply in which giving in is said; what follows is the work.
const HEAD: usize = 220;

/// Bytes at the end of a text in which a question or a claim is looked for.
const TAIL: usize = 600;

/// What the agent's last text was.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Said {
    pub(super) claims_done: bool,
    pub(super) asks: bool,
}

impl Said {
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..];
        let head = one_line(text, HEAD);
        let claims = |text: &str| DONE.found(&Tokens::new(text));
        let last = tail.trim_end_matches(|c: char| !c.is_alphanumeric() && !"?？".contains(c));
        Self {
            claims_done: claims(&head) || claims(tail),
            asks: last.ends_with(['?', '？']) || ASKS.found(&Tokens::new(tail)),
        }
    }
}

/// Adds what the agent's first text after the turn says about it; whether it says anything. What it says before it acts
/// is an answer; afterwards it is a report, in which only giving in tells something.
pub(super) fn listen(text: &str, immediate: bool, case: &mut Case) -> bool {
    let mut tokens = Tokens::new(truncate(text.trim(), HEAD * 4).lines().next().unwrap_or_default());
    if tokens.words() < 4 {
        tokens = Tokens::new(&one_line(text, HEAD));
    }
    tokens.mask(&COURTESY);
    let concedes = CONCEDES.found(&tokens);
    case.add_if(Evidence::Concedes, concedes);
    let objected = !case.has(Evidence::NoObjection);
    case.add_if(Evidence::ConcedesUnprompted, concedes && !objected);
    if !immediate {
        case.add_if(Evidence::ReportsChange, CHANGED.found(&tokens) || REVERSES.found(&tokens));
        case.add_if(Evidence::ReportsNew, NEW.found(&tokens));
        return concedes;
    }
    case.add(Evidence::RepliesFirst);
    let likes = !concedes && LIKES.found(&tokens);
    case.add_if(Evidence::Likes, likes);
    case.add_if(Evidence::Accepts, !concedes && !likes && ACCEPTS.found(&tokens));
    let reverses = REVERSES.found(&tokens);
    case.add_if(Evidence::Reverses, reverses);
    case.add_if(Evidence::Mends, !reverses && MENDS.found(&tokens));
    concedes || reverses
}

/// Agreement that answers a question or praises it.
static COURTESY: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "right to ask|wonder|be",
        "right after all",
        "good question",
        "right away|now",
        "you ?re|are right that",
        "您|你 说得对 , 会",
    ])
});

static CONCEDES: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        // English
        "youre|you_are|your ?absolutely|completely|totally|quite|entirely|not_wrong ?, right",
        "youre|you_are not wrong|mistaken",
        "good|great|nice|excellent|fair catch|point|points|spot|eye|enough|call",
        "S fair|true|indeed|ouch|oops|ah|agreed|whoops|argh|yikes|ugh ,|.|!|:|,",
        "S right ,|.",
        "point taken",
        "my mistake|bad|fault|apologies|error|oversight",
        "S ?ah|oh|im|i_am|so|very sorry|apologies",
        "i apologi*",
        "i ?had|have|ve|clearly|completely|should_have misread|misunderstood|overlooked|missed|forgot|forgotten|overshot|overdid|overstepped|broke|mixed|skipped|slipped|conflated|assumed|overcomplicated|over-engineered|jumped|ran_ahead|went_ahead|got_that_wrong|was_wrong|was_conflating|was_framing|was_overcomplicating",
        "i|we shouldnt|should_not|should_have|shouldve",
        "i|that was wrong|conflating|framing|overcomplicating|an_oversight|a_mistake|unnecessary|not_asked|too|careless",
        "wasnt|was_not ~2 asked|aware|needed|what_you",
        "i can see ?that|why",
        "thats|that_is|that_would_be|that_makes ?a|much|way|more|far better|simpler|cleaner|safer|more_sense",
        "i overcomplicated|misspoke|wasnt_clear|jumped_the_gun|didnt_notice|didnt_realize|didnt_see|didnt_read|should_read",
        "im|i_was an_idiot|being_dumb|wrong|careless|sloppy|lazy",
        "S it|that would|does .|,",
        "S it does",
        "out of scope",
        "i added ~3 on_my_own|in_passing|in_anticipation",
        // French
        "vous_avez|tu_as ?tout_a_fait|entierement raison",
        "S exact|exactement|effectivement|en_effet|oups|juste|vrai|pardon|desole|desolee|mince|aie|bien_vu|tout_a_fait",
        "bien vu",
        "bonne remarque",
        "bon point|reflexe",
        "c est juste|vrai|exact|noté",
        "en effet|effectivement",
        "desole|desolee|pardon|excusez|excuse|mea_culpa",
        "j ai|avais ?mal oublie|compris|lu|neglige|omis",
        "perdu pendant",
        // Chinese
        "说得对|说的对|说得没错|说得是|有道理|确实|的确|抱歉|对不起|不好意思|好眼力|疏忽|失误|看漏|没看清|理解偏|搞反|弄反",
        "是我|我 ~3 漏|忘|错|搞错|弄错|没注意|多做|理解错|走快|看错|输错|误",
        "S 对 ,|.|!",
        "S 是的 ,",
        "会 ~2 报错|重复",
        "这 ~3 很危险|不合理|不对",
        // Japanese
        "おっしゃるとおり|おっしゃる通り|仰る通り|ご指摘|確かに|たしかに|失礼しました|失礼いたしました|申し訳|すみません|ごめん|その通り|そのとおり",
        "過剰でした|逆でした|不要な変更|間違っていました|間違えました|忘れていました|漏れていました|見落とし|誤りでした|誤って",
    ])
});

/// Agreement with a proposal: it may be a correction, or simply a wish.
static LIKES: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "good|great|nice|excellent|smart ?catch|point suggestion|thinking|idea",
        "makes ?perfect|total|much sense",
        "S i see ,|.|:|the|what",
        "bonne idee|suggestion|question_de",
        "好主意|好建议|原来如此|可以的",
        "そうですね|なるほど|良い案|いい案|いいですね",
    ])
});

static ACCEPTS: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "S understood|noted|sure|ok|okay|certainly|dropped|of_course|got_it|will_do|no_problem",
        "S compris|entendu|d_accord|c_est_note|tres_bien|bien_sur|ok|certainement|oui",
        "S 明白|了解|好的|收到|好|可以|行 ,|.|!|E|的",
        "S 明白|了解|好的|收到",
        "承知|了解しました|わかりました|分かりました|かしこまり",
        "S はい",
    ])
});

static REVERSES: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "revert*|restor*|undo*|undid|retarget*|discard*|rollback|hoist*",
        "roll* back",
        "ill|i_will ?now|just remove|drop|stop|stay|keep|leave|take ~6",
        "removing|dropping|stopping|amended",
        "back to|in|at",
        "instead",
        "stays|stay as|within|out",
        "no longer",
        "off by_default|now",
        "remets|remis|retire|retirer|retablis|retabli|annule|restaure|supprime|enleve|reprends|reviens|repasse|renomme|reste|rends",
        "ne ~3 plus|que",
        "恢复|改回|还原|撤销|去掉|删掉|拿掉|不再|保留|保持|撤|只做|只列|只改|之后只|不动|不提交|移到",
        "戻し|元に|もとに|外し|外す|やめ|だけに|組み直|復元|絞り|取り消|以前どおり|そのままにし|別名で",
    ])
});

static MENDS: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "correct*|fix*|adjust*|switch*|swap*|redo*|rewrit*|renam*|replac*|convert*|chang*|limit*|narrow*|reword*|rework*|rephras*|revis*|clean* ~2",
        "i|ill|i_will ?ll|should use|check|batch|add|make|move|put|switch|change|fix|parse|return|compare|read|store|rename|let|show ~6",
        "corrige|corriger|modifie|ajoute|ajuste|remplace|passe|reecris|limite|precise|deplace|decris|extrais|utilise|change",
        "改成|改为|改用|换成|更正|补上|修正|改一下|跳过|调整|加上|修复|重新|改读|写入",
        "直し|修正し|変え|変更し|置き換え|追加し|まとめます|切り替え|圧縮|描き直",
    ])
});

/// Reports that something is other than it was.
static CHANGED: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "fixed|corrected|changed|moved|switched|replaced|rewritten|rewrote|renamed|adjusted|shortened|simplified|reduced|trimmed|removed|deleted|dropped|restored|reverted|undone|back|now|again|amended|separate|only|kept|gone",
        "corrige|modifie|change|deplace|remplace|reecrit|renomme|ajuste|raccourci|simplifie|supprime|retire|remis|maintenant|desormais|seulement|uniquement",
        "已改|改成|改为|改回|换成|改用|移到|移除|删除|还原|修正|修好|缩短|简化|现在|只",
        "に変更|に直し|直しました|修正し|戻し|削除し|外し|に置き換え|短くし|にしました|のみ|だけ",
    ])
});

/// Reports something that was not there.
static NEW: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "added|created|written|new|implemented|open|opened|pushed|committed|merged|deployed|exported|found|passes|pass|summary|here",
        "ajoute|ajoutee|cree|creee|ecrit|nouveau|nouvelle|pousse|commite|voici",
        "新增|添加|加上|加了|创建|新建|写好|提交|导出|推送|完成",
        "追加し|作成し|新しい|実装し|作りました|コミットし|出力し|通りました",
    ])
});

/// Claims to be finished.
static DONE: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "S ?all done|finished|complete|completed|fixed|ready|updated|added|created|written|installed|rolled|merged|deployed|committed|pushed|removed|renamed|converted|linked|documented|off|saved|hoisted|formatted|limited|translated|switched|moved|implemented|configured|joined|exported",
        "is|are|has_been|have_been|now|were|was ?now|all ?also done|complete|completed|ready|fixed|updated|added|created|written|in_place|working|gone|handled|in|live|up|installed|moved|renamed|finished|linked|marked|covered|supported|prepared",
        "everything|tests|all|test|build ~3 pass|passes|passed|passing|works|work|compiles|green",
        "it|they|that|which|build|page|bot|script|hook ?now works|compiles|passes|builds|runs|loads|reads|prints|handles|covers|accepts|shows|uses|blocks|falls|plays|sets|wins|remembers",
        "should ?now work|be_fixed|pass|load",
        "ive|i_have|i ?also ?ve|have|just|already added|fixed|updated|created|removed|implemented|changed|moved|set|written|wrote|switched|renamed|replaced|rewrote|refactored|made|put|split|doubled",
        "successfully",
        "✅|🎉",
        "est|sont ?maintenant pret|prete|prets|pretes|fait|faite|corrige|corriges|corrigee|corrigees|termine|terminee|en_place|installe|a_jour|traduits|ajoutee|ajoute|actives",
        "S fait|termine|corrige|voila|commite|migration|remis|ajoute|c_est_fait|poids",
        "tests passent",
        "完成|已|好了|做好|写好|改好|搞定|成功|通过|处理完|修好|加上了|推送了",
        "しました|できました|完了|しておきました|終わりました|通りました|成功しました|なりました|済み",
    ])
});

/// Asks without a question mark.
static ASKS: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "let me know ?which|if|how|what",
        "which ~4 would|do you prefer|want|like",
        "tell|say me ?which|what|how|whether|if",
        "if you want|like|prefer|wish|agree",
        "your|up call|to_you|choice|decision",
        "want me to",
        "should|shall i|we ~12 ?",
        "either ~12 or",
        "options :",
        "a_choice|two_options|three_options|two_ways|three_ways",
        "dites|dis moi|si",
        "a vous|toi de",
        "要不要|是否|还是 ~12 ?",
        "would you like|prefer",
        "どちらにしますか|いかがでしょうか|よろしいですか|しますか|ましょうか",
        "要我 ~12 吗",
        "选哪个|哪个方案",
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Case {
        let mut case = Case::default();
        listen(text, true, &mut case);
        case
    }

    #[test]
    fn giving_in_is_heard() {
        for text in [
            "You're absolutely right! I'll check.",
            "Good catch, fixing it.",
            "Sorry, I misread that.",
            "Vous avez raison, je corrige.",
            "您说得对，我恢复原样。",
            "失礼しました。戻します。",
        ] {
            assert!(heard(text).has(Evidence::Concedes), "{text}");
        }
        for text in ["You're right to ask; it is safe.", "The table has no index.", "Good question. It depends."] {
            assert!(!heard(text).has(Evidence::Concedes), "{text}");
        }
    }

    #[test]
    fn claims_and_questions_are_told_apart() {
        assert!(Said::new("Done. All tests pass.").claims_done);
        assert!(Said::new("I looked. Shall I fix it?").asks);
        assert!(Said::new("修好了。要我提交吗？").asks);
        assert!(!Said::new("The handler reads the file.").asks);
    }
}
