# Texts of reports. A value in { } is put in; a plural form is chosen by its number.

title = What gets in the way
updated = Updated { $date }
basis = { $sessions } in { $projects }, { $from } to { $to }
separator = ,{ " " }
aside = { " " }({ $text })
about = { $title }: { $text }

sessions =
    { $count ->
        [one] { $count } session
       *[other] { $count } sessions
    }
projects =
    { $count ->
        [one] { $count } project
       *[other] { $count } projects
    }
times =
    { $count ->
        [one] once
       *[other] { $count } times
    }

totals =
    { $recurring ->
        [0] **No pattern came back** in a second session
        [one] **{ $recurring } pattern came back** in more than one session
       *[other] **{ $recurring } patterns came back** in more than one session
    }; { $once ->
        [one] { $once } was seen in one only.
       *[other] { $once } were seen in one only.
    }

empty-nothing-read = Nothing has been read yet, so there is nothing to say.
empty-how = Run `totalrecall init` to see which tools and sessions were found, then `totalrecall reconcile` and `totalrecall worker` to read them. `totalrecall demo` shows this page with made-up sessions.
empty-no-friction = No friction was found. Either the work goes well, or the sessions are too few to show it.

pressing = Most pressing
pressing-none = Nothing has come back in a second session yet. The strongest of what was seen once:
what-to-do = What to do:
evidence = Evidence:
evidence-more =
    { $count ->
        [one] and { $count } more session
       *[other] and { $count } more sessions
    }
line = line { $line }
subagent = sub-agent { $id }
in-subagents = { $count } of them in sub-agents
seen = in { $sessions }
seen-times = in { $sessions }, { $times }
in-project = in { $project }
last-seen = last seen { $date }
severity = severity { $severity } of 5
strength = strength { $strength }
rising = rising: { $with } of { $of } sessions in the last 4 weeks, { $before-with } of { $before-of } in the 4 weeks before
falling = falling: { $with } of { $of } sessions in the last 4 weeks, { $before-with } of { $before-of } in the 4 weeks before

trends = Trends
trends-status =
    { $active ->
        [one] { $active } pattern is active
       *[other] { $active } patterns are active
    }, { $fading ->
        [one] { $fading } is fading
       *[other] { $fading } are fading
    } (not seen for { $days } days).
trends-rising = Rising
trends-falling = Falling
trends-steady = No pattern rises or falls clearly: the numbers are too small or too even to say so.
trends-shares = { $with } of { $of } sessions in the last 4 weeks, { $before-with } of { $before-of } in the 4 weeks before
trends-weeks = Sessions per week with friction of a kind; each week is named by its last day.
trends-kind = Kind
trends-all = all sessions

by-category = Recurring by category
one-offs = Seen in one session only: { $kinds }.

candidates = Candidate improvements
unread = What could not be read
unread-failed =
    { $count ->
        [one] { $count } transcript failed; `totalrecall retry` reads it again:
       *[other] { $count } transcripts failed; `totalrecall retry` reads them again:
    }
unread-unknown = Records of unknown types were stepped over (a newer version of the tool?):
unread-broken =
    { $count ->
        [one] { $count } record was damaged and stepped over.
       *[other] { $count } records were damaged and stepped over.
    }
unread-more =
    { $count ->
        [one] … and { $count } more
       *[other] … and { $count } more
    }

legend = Evidence names the tool, the beginning of the session's id, the day (UTC) and the line of the transcript. Strength = sessions × 0.5^(days since last seen ÷ { $days }) × severity ÷ 5.

## Sorts of friction

category-misunderstood-intent = Misunderstood intent
category-repeated-correction = Repeated corrections
category-clarification-gap = Questions that were not asked
category-rule-violation = Rules that were not kept
category-tool-error = Tool errors
category-rework = Rework
category-service = Model service and context
category-frustration = Frustration
category-other = Other

## Kinds of signals: name, title of a pattern, what was seen, what to do, the improvement that a pattern suggests

kind-tool-error = tool error
title-tool-error = { $subject }
summary-tool-error = A tool's result was an error, or a rule kept the tool from running.
advice-tool-error = Say in the project's instructions how the tool is used here.
improve-tool-error = Say in the instructions how to avoid { $subject }

kind-permission-denied = refusal
title-permission-denied = Refused: { $subject }
summary-permission-denied = A person refused a tool call.
advice-permission-denied = Write down what the agent must not do, or must ask about, and why.
improve-permission-denied = Write down when { $subject } is allowed, or deny it in the settings

kind-interrupt = interrupt
title-interrupt = Stopped: { $subject }
summary-interrupt = A person stopped the agent while it worked.
advice-interrupt = Look at what was stopped: if it took too long, limit it; if it was wrong, say so in the instructions.
improve-interrupt = Find out why { $subject } gets stopped, and say in the instructions what to do instead

kind-user-correction = correction
title-user-correction = “{ $subject }”
summary-user-correction = A person corrected what the agent did or was about to do.
advice-user-correction = Make it a rule in the instructions, in the words that were used.
improve-user-correction = Make it a rule: “{ $subject }”

kind-repeated-instruction = repeated instruction
title-repeated-instruction = “{ $subject }”
summary-repeated-instruction = A person said again what they had said before.
advice-repeated-instruction = Make it a rule in the instructions, so that it need not be said again.
improve-repeated-instruction = Make it a rule: “{ $subject }”

kind-churn = churn
title-churn = { $subject } is edited over and over
summary-churn = A file was edited several times in one session.
advice-churn = Agree on the change before the first edit, or give the agent a test to work against; a file that always churns may need splitting.
improve-churn = Give the agent a test or a plan before it edits { $subject }; split the file if it does too much

kind-revert = revert
title-revert = Undone: { $subject }
summary-revert = Work was undone.
advice-revert = Ask for a plan, or for smaller steps, where work is often undone.
improve-revert = Ask for a plan before changes like those undone in { $subject }

kind-retry-loop = retry loop
title-retry-loop = Tried in vain: { $subject }
summary-retry-loop = The same failing call was made again and again.
advice-retry-loop = Tell the agent to stop and look for the cause after the second failure, and what the cause is here.
improve-retry-loop = Say in the instructions what to do instead of repeating { $subject }

kind-api-error = service error
title-api-error = Model service: { $subject }
summary-api-error = The model's service failed.
advice-api-error = Nothing in the instructions helps; check limits, plan and network if it goes on.
improve-api-error = Check limits, plan and network: { $subject }

kind-compaction = compaction
title-compaction = Context compacted ({ $subject })
summary-compaction = The context window was full and the conversation was compacted.
advice-compaction = Split the work into shorter sessions, and keep big outputs out of the conversation.
improve-compaction = Split long work into shorter sessions: context was compacted ({ $subject })

kind-unresolved-error = unresolved error
title-unresolved-error = Ended on { $subject }
summary-unresolved-error = A session ended on an error.
advice-unresolved-error = Look whether the work was ever finished, and what stopped it.
improve-unresolved-error = Find out what stopped the sessions that ended on { $subject }

title-unspecific = Objections that do not say what is wrong
improve-unspecific = Look up what was objected to: the words alone do not say it
