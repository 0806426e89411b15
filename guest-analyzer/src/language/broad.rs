//! Broad constructions: they say little by themselves, and hold in any of the languages.

/// A negation of any kind.
pub(crate) const NEGATES: &[&str] = &[
    "not|no|never|none|nothing|nobody|nowhere|without|dont|doesnt|didnt|isnt|arent|wasnt|werent|cant|cannot|couldnt|wont|wouldnt|shouldnt|hasnt|havent|hadnt|neither|nor",
    "pas|jamais|rien|aucun|aucune|sans|ni",
    "不|没|未|别|无",
    "ない|なく|ません|ず",
];

/// Going on to something: "and …", "also …", "next …".
pub(crate) const GOES_ON: &[&str] = &[
    "S ?ok|okay|good|great|yes|thanks|cool|right|and|oh ?, and|also|plus|next|now|then|finally|lastly|another|last|one_more",
    "also|as_well|while_youre|while_you",
    "S ?some|here_are more|further|another|other|new ~3 comments|feedback|review|reviews|notes|remarks",
    "S ?ok|merci|parfait|super|bon ?, et|aussi|ensuite|maintenant|puis|enfin|dernier|derniere",
    "en plus|aussi",
    "还有|另外|再|顺便|接下来|然后|同时",
    "S あと|次|それから|さらに",
    "ついでに|追加で",
];

/// A question by its form, with or without its mark.
pub(crate) const INQUIRES: &[&str] = &[
    "C whats|what|where|wheres|who|whos|which|when|how|hows",
    "C is|are|was|were|does|do|did|can|could|has|have|will|would|should it|there|this|that|we|you|i|they|the",
    "C quel|quelle|quels|quelles|qui|ou|combien|comment|quand|qu_est|est_ce",
    "什么|哪|多少|几|谁|吗|是不是|能不能|如何|怎样",
    "何|どこ|どれ|どの|いつ|誰|いくつ|どう|ですか|ますか|かな",
];

/// A consequence is drawn: "so … will", "then … won't", "which means".
pub(crate) const CONSEQUENCE: &[&str] = &[
    "means|implies",
    "so|then|and|which|that|it|they ~6 will|wont|would|wouldnt|cant|cannot|breaks|loses|hangs|leaks|fails",
    "will|would|wont|wouldnt|can|could ~2 lose|break|hang|leak|fail|drop|eat|hide|block|lock|kill|overwrite|see|go_stale|delete|confuse",
    "du coup|sinon|donc ~6",
    "va|vont ~3 casser|perdre|bloquer|planter|ecraser",
    "就会|会 ~6 了|这样|那样|不就|否则|不然|万一",
    "てしま|ちゃう|ちゃい|じゃう|ると ~10 ない|と困|ますと|恐れ",
];

/// What holds on the person's side: "our", "we", "users".
pub(crate) const OURS: &[&str] = &[
    "our|ours|we|were|weve|my|mine|users|customers|people|everyone|everybody|somebody|someone|clients|players|colleague|colleagues|team|half",
    "notre|nos|nous|mon|ma|mes|chez|clients|utilisateurs|gens|equipe",
    "我们|我這|咱们|客户|用户|同事|团队|公司|这边|大家|領導|领导",
    "うち|弊社|当社|私たち|我々|お客|ユーザ|チーム|社内|皆",
];

/// Asks for a reason.
pub(crate) const WHY: &[&str] =
    &["why|how_come", "pourquoi", "为什么|为何|為什麼|为啥|怎么|怎麼", "なぜ|なんで|どうして"];
