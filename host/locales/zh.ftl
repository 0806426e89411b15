# 报告中的文字。{ } 中的值会被代入。

title = 协作中的阻碍
updated = 更新于 { $date }
basis = { $sessions }，{ $projects }，{ $from } 至 { $to }
separator = 、
aside = （{ $text }）
about = { $title }：{ $text }

sessions = { $count } 个会话
projects = { $count } 个项目
times = { $count } 次

totals =
    { $recurring ->
        [0] **没有模式在第二个会话中重现**
       *[other] **{ $recurring } 个模式反复出现**（见于多个会话）
    }，另有 { $once } 个只见于一个会话。

empty-nothing-read = 还没有读取任何会话记录，因此暂无内容。
empty-how = 运行 `totalrecall init` 查看找到了哪些工具和会话，再用 `totalrecall reconcile` 和 `totalrecall worker` 读取。`totalrecall demo` 用虚构的会话演示本页。
empty-no-friction = 没有发现摩擦。可能一切顺利，也可能会话太少，还看不出来。

pressing = 最需要处理
pressing-none = 目前还没有在第二个会话中重现的问题。只出现过一次的问题中，最突出的有：
what-to-do = 建议：
evidence = 依据：
evidence-more = 另有 { $count } 个会话
line = 第 { $line } 行
subagent = 子代理 { $id }
in-subagents = 其中 { $count } 次在子代理中
seen = { $sessions }
seen-times = { $sessions }，共 { $times }
in-project = 位于 { $project }
last-seen = 最近一次 { $date }
severity = 严重度 { $severity }/5
strength = 强度 { $strength }
rising = 上升：最近 4 周 { $of } 个会话中有 { $with } 个，此前 4 周 { $before-of } 个中有 { $before-with } 个
falling = 下降：最近 4 周 { $of } 个会话中有 { $with } 个，此前 4 周 { $before-of } 个中有 { $before-with } 个

rules = 已应用规则的效果
rules-intro = 结论比较规则应用以来该模式出现的频率，与没有这条规则时预计的频率；只有数据足够时才下结论。旁边的简单读法只看它是否再次出现。
rules-everywhere = 次数统计的是规则适用的全部会话，不限于上述会话。
outcome-working = 有效
outcome-not-working = 无效
outcome-worse = 比以前更糟
outcome-too-early = 为时尚早
outcome-not-enough-data = 数据不足
rule-about = 针对 { $title }
rule-since = { $date } 起生效
rule-tokens = 每个会话耗费 { $count } 个词元
rule-counts-sessions = 此前（自 { $from }）{ $before-of } 个会话中有 { $before-with } 个，此后 { $of } 个中有 { $with } 个
rule-counts-calls = 此前（自 { $from }）{ $before-of } 次调用中有 { $before-with } 次，此后 { $of } 次中有 { $with } 次
rule-ratio = 频率为没有规则时的 { $middle } 倍（90% 区间 { $low } 至 { $high }）
rule-simple-resolved = 简单读法：已解决，未再出现
rule-simple-pending = 简单读法：待定，尚未出现
rule-simple-ineffective = 简单读法：无效，又出现了
rule-advice-working = 保留这条规则。
rule-advice-not-working = 用 `totalrecall propose` 重新起草规则或换用更强的手段，或用 `totalrecall revert { $proposal }` 撤回。
rule-advice-worse = 用 `totalrecall revert { $proposal }` 撤回规则，并看看此后的会话有什么共同之处。
rule-advice-too-early = 再等等：由接下来的会话决定。
rule-advice-not-enough-data = 若认为即使没有证据也值得这些词元，就保留规则；否则用 `totalrecall revert { $proposal }` 撤回。
has-rule = { $date } 起有规则（{ $outcome }）
ruled-working = 有效
ruled-not-working = 无效
ruled-worse = 比以前更糟
ruled-too-early = 为时尚早
ruled-not-enough-data = 数据不足
drafted = **有 { $count } 条规则草案等待处理**：`totalrecall proposals` 列出它们，`totalrecall propose --review` 逐条审阅。

view-project = 仅限项目 { $project }。
view-since = 仅限 { $from } 至 { $to } 结束的会话；趋势取该时段结束前的 8 周。
view-until = 仅限 { $to } 及之前结束的会话；趋势取此前的 8 周。
empty-view = 读取过的会话中，没有属于该项目和时段的。

forms = 偏离之处
forms-intro = 询问过会话的模型认为，工作的哪个部分偏离了用户的意图。
forms-form = 形式
forms-sessions = 会话
forms-findings = 发现
form-project-reading = 误读了项目或事实
form-intent = 误读了意图
form-rule-following = 没有遵守明确的规则
form-scope = 做了超出要求的事
form-implementation = 代码有误
form-execution = 命令或工具使用不当
form-self-reporting = 对自己工作的说法不符合事实

trends = 趋势
trends-status = { $active } 个模式活跃，{ $fading } 个消退中（{ $days } 天未再出现）。
trends-none = 最近 8 周没有结束的会话，无从比较。
trends-rising = 上升
trends-falling = 下降
trends-steady = 没有明显上升或下降的模式：数量太少或变化太小，不足以下结论。
trends-shares = 最近 4 周 { $of } 个会话中有 { $with } 个，此前 4 周 { $before-of } 个中有 { $before-with } 个
trends-weeks = 每周出现某类摩擦的会话数；每周以其最后一天标示。
trends-kind = 类型
trends-all = 全部会话

by-category = 按类别列出的反复问题
one-offs = 只见于一个会话：{ $kinds }。

muted = { $count } 个模式已静音，未列出。

candidates = 可考虑的改进
unread = 未能读取的内容
unread-failed = { $count } 份会话记录读取失败；运行 `totalrecall retry` 可重新读取：
unread-unknown = 跳过了未知类型的记录（工具是否已升级？）：
unread-broken = 跳过了 { $count } 条损坏的记录。
unread-more = …… 另有 { $count } 项

legend = 依据依次为：工具、会话编号的开头、日期（UTC）、会话记录中的行号。强度 = 会话数 × 0.5^(距最近一次的天数 ÷ { $days }) × 严重度 ÷ 5。

## 摩擦的类别

category-misunderstood-intent = 误解意图
category-repeated-correction = 反复纠正
category-clarification-gap = 该问未问
category-rule-violation = 违反规则
category-tool-error = 工具错误
category-rework = 返工
category-service = 模型服务与上下文
category-frustration = 不耐烦
category-other = 其他

## 信号的类型：名称、模式标题、所见、建议、改进

kind-tool-error = 工具错误
title-tool-error = { $subject }
summary-tool-error = 工具返回了错误，或被某条规则拦下。
advice-tool-error = 在项目说明中写明该工具在这里应如何使用。
improve-tool-error = 在项目说明中写明如何避免 { $subject }

kind-permission-denied = 拒绝
title-permission-denied = 被拒绝：{ $subject }
summary-permission-denied = 用户拒绝了一次工具调用。
advice-permission-denied = 写明哪些事代理不能做、哪些事要先询问，以及原因。
improve-permission-denied = 写明何时允许 { $subject }，或在设置中禁止它

kind-interrupt = 打断
title-interrupt = 被打断：{ $subject }
title-interrupt-reply = 回复时被打断
summary-interrupt = 用户在代理工作时将其打断。
advice-interrupt = 看看被打断的是什么：若耗时太长就加以限制，若方向错误就写进项目说明。
improve-interrupt = 查明 { $subject } 为何被打断，并在项目说明中写明替代做法
improve-interrupt-reply = 查明回复为何被打断，并在项目说明中写明替代做法

kind-user-correction = 纠正
title-user-correction = “{ $subject }”
summary-user-correction = 用户纠正了代理已做或将做的事。
advice-user-correction = 用原话把它写成项目说明中的一条规则。
improve-user-correction = 写成规则：“{ $subject }”

kind-repeated-instruction = 重复的要求
title-repeated-instruction = “{ $subject }”
summary-repeated-instruction = 用户又说了一遍说过的话。
advice-repeated-instruction = 把它写成项目说明中的一条规则，就不必再说。
improve-repeated-instruction = 写成规则：“{ $subject }”

kind-churn = 反复修改
title-churn = { $subject } 被反复修改
summary-churn = 同一文件在一个会话中被修改多次。
advice-churn = 动手之前先商定改法，或给代理一个可对照的测试；总被反复修改的文件也许该拆分。
improve-churn = 修改 { $subject } 之前先给代理测试或计划；文件过于庞杂就拆分

kind-revert = 撤销
title-revert = 被撤销：{ $subject }
summary-revert = 已做的工作被撤销。
advice-revert = 在常被撤销的地方，先要求计划，或把步子放小。
improve-revert = 做类似 { $subject } 中被撤销的改动之前，先要求计划

kind-retry-loop = 徒劳重试
title-retry-loop = 徒劳重试：{ $subject }
summary-retry-loop = 同一个失败的调用被一再重复。
advice-retry-loop = 要求代理在第二次失败后停下来找原因，并写明这里的原因是什么。
improve-retry-loop = 在项目说明中写明，与其重复 { $subject }，应该怎么做

kind-api-error = 服务错误
title-api-error = 模型服务：{ $subject }
summary-api-error = 模型服务出错。
advice-api-error = 写进项目说明无济于事；若持续出现，请检查限额、套餐和网络。
improve-api-error = 检查限额、套餐和网络：{ $subject }

kind-compaction = 压缩
title-compaction = 上下文被压缩（{ $subject }）
summary-compaction = 上下文窗口已满，对话被压缩。
advice-compaction = 把工作拆成较短的会话，不要让大段输出进入对话。
improve-compaction = 把长任务拆成较短的会话：上下文被压缩（{ $subject }）

kind-unresolved-error = 未解决的错误
title-unresolved-error = 结束于 { $subject }
summary-unresolved-error = 会话以错误告终。
advice-unresolved-error = 看看这项工作后来是否完成，是什么阻止了它。
improve-unresolved-error = 查明以 { $subject } 告终的会话被什么阻止

kind-misunderstood-intent = 误解
title-misunderstood-intent = 误解：{ $subject }
summary-misunderstood-intent = 代理着手做的并不是用户想要的。
advice-misunderstood-intent = 在项目说明中写明想要什么，或要求代理动手前先复述它的理解。
improve-misunderstood-intent = 在项目说明中写明想要什么：{ $subject }

kind-repeated-correction = 反复纠正
title-repeated-correction = { $subject }
summary-repeated-correction = 用户不得不再说一遍同样的话。
advice-repeated-correction = 把它写成项目说明中的一条规则。
improve-repeated-correction = 写成规则：{ $subject }

kind-clarification-gap = 该问未问
title-clarification-gap = 未询问：{ $subject }
summary-clarification-gap = 本该询问的事，代理自行决定了。
advice-clarification-gap = 在项目说明中写明，代理在决定此事前必须询问。
improve-clarification-gap = 要求代理先询问：{ $subject }

kind-rule-violation = 违反规则
title-rule-violation = 未遵守：{ $subject }
summary-rule-violation = 写明的规则没有得到遵守。
advice-rule-violation = 把规则写得更短，放在会被读到的地方，或用钩子强制执行。
improve-rule-violation = 把规则写得更清楚，或用钩子强制执行：{ $subject }

kind-frustration = 不耐烦
title-frustration = 失去耐心：{ $subject }
summary-frustration = 用户失去了耐心。
advice-frustration = 看看此前发生了什么：让人失去耐心的多半是另一个模式。
improve-frustration = 查明此前发生了什么：{ $subject }

title-unspecific = 没有说明哪里不对的反对
improve-unspecific = 查看当时反对的是什么：仅凭这些话看不出来

## HTML 页面的图表

chart-sessions-title = 每周会话数；每周以其最后一天标示
chart-sessions = 每周会话数，由远及近：{ $counts }
chart-pattern = 每周出现它的会话数，由远及近：{ $counts }
chart-rules = 有规则时模式出现的频率与没有规则时预计频率之比：中位值与 90% 区间；1 表示没有变化。
chart-rarer = 更少
chart-more-often = 更多
chart-category = 类别
chart-category-sessions = 会话
chart-category-patterns = 模式

## 会话开始时的一行

news-between = { "" }
news-read = 已读取 { $count } 个会话。
news-patterns =
    { $count ->
        [1] 新模式：“{ $name }”
       *[other] { $count } 个新模式，最强的是“{ $name }”
    }（{ $how }）。
news-drafts = { $count } 条规则草案等你决定（{ $how }）。
news-working = 针对“{ $name }”的规则有效。
news-not-working = 针对“{ $name }”的规则无效。
news-worse = 针对“{ $name }”的规则让情况更糟。
news-verdicts = 另有 { $count } 条规则的结论有变。
news-version = 插件的版本是 { $plugin }，程序的版本是 { $program }：两者可能不兼容。{ $how } 会说明如何让它们一致。

## 状态栏

glance-patterns = { $count } 个模式
glance-drafts = { $count } 条草案待定
glance-failing = { $count } 条规则无效
glance-paused = 已暂停
glance-nothing = 尚未读取
