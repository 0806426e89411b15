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

trends = 趋势
trends-status = { $active } 个模式活跃，{ $fading } 个消退中（{ $days } 天未再出现）。
trends-rising = 上升
trends-falling = 下降
trends-steady = 没有明显上升或下降的模式：数量太少或变化太小，不足以下结论。
trends-shares = 最近 4 周 { $of } 个会话中有 { $with } 个，此前 4 周 { $before-of } 个中有 { $before-with } 个
trends-weeks = 每周出现某类摩擦的会话数；每周以其最后一天标示。
trends-kind = 类型
trends-all = 全部会话

by-category = 按类别列出的反复问题
one-offs = 只见于一个会话：{ $kinds }。

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
summary-interrupt = 用户在代理工作时将其打断。
advice-interrupt = 看看被打断的是什么：若耗时太长就加以限制，若方向错误就写进项目说明。
improve-interrupt = 查明 { $subject } 为何被打断，并在项目说明中写明替代做法

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

title-unspecific = 没有说明哪里不对的反对
improve-unspecific = 查看当时反对的是什么：仅凭这些话看不出来
