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

rules = Outcome of applied rules
rules-intro = A verdict compares how often the pattern came up since the rule was applied with how often it would have without it; it is only given where the numbers carry it. The simple reading beside it asks only whether it came up again.
rules-everywhere = The counts are of all sessions that a rule is for, not only of those above.
outcome-working = Working
outcome-not-working = Not working
outcome-worse = Worse than before
outcome-too-early = Too early to say
outcome-not-enough-data = Not enough data
rule-about = About { $title }
rule-since = in force since { $date }
rule-tokens =
    { $count ->
        [one] { $count } token in every session
       *[other] { $count } tokens in every session
    }
rule-counts-sessions = In { $before-with } of { $before-of } sessions before (from { $from }), { $with } of { $of } since
rule-counts-calls = In { $before-with } of { $before-of } calls before (from { $from }), { $with } of { $of } since
rule-ratio = { $middle } times as often as without the rule (90 % interval { $low } to { $high })
rule-simple-resolved = simple reading: resolved, it did not come up again
rule-simple-pending = simple reading: pending, it did not come up yet
rule-simple-ineffective = simple reading: ineffective, it came up again
rule-advice-working = Keep the rule.
rule-advice-not-working = Have the rule drafted anew, or as a stronger means, with `totalrecall propose`, or take it back with `totalrecall revert { $proposal }`.
rule-advice-worse = Take the rule back with `totalrecall revert { $proposal }`, and look at what the sessions since have in common.
rule-advice-too-early = Wait: the next sessions decide.
rule-advice-not-enough-data = Keep the rule if it is worth its tokens without proof; otherwise `totalrecall revert { $proposal }` takes it back.
has-rule = has a rule since { $date } ({ $outcome })
ruled-working = working
ruled-not-working = not working
ruled-worse = worse than before
ruled-too-early = too early to say
ruled-not-enough-data = not enough data
drafted =
    { $count ->
        [one] **{ $count } drafted rule waits** for you
       *[other] **{ $count } drafted rules wait** for you
    }: `totalrecall proposals` lists them, `totalrecall propose --review` goes through them one by one.

view-project = Only the project { $project }.
view-since = Only sessions that ended from { $from } to { $to }; trends look at the 8 weeks before the end of this period.
view-until = Only sessions that ended by { $to }; trends look at the 8 weeks before that.
empty-view = No session that was read is of this project and period.

forms = What went another way
forms-intro = Which part of the work went another way than the person's, as a model says that was asked about sessions.
forms-form = Form
forms-sessions = Sessions
forms-findings = Findings
form-project-reading = The project or a fact was misread
form-intent = What was wanted was misread
form-rule-following = A stated rule was not kept
form-scope = More was done than asked for
form-implementation = The code was wrong
form-execution = Commands or tools were used wrongly
form-self-reporting = What the agent said of its work was not so

trends = Trends
trends-status =
    { $active ->
        [one] { $active } pattern is active
       *[other] { $active } patterns are active
    }, { $fading ->
        [one] { $fading } is fading
       *[other] { $fading } are fading
    } (not seen for { $days } days).
trends-none = No session ended in the last 8 weeks, so there is nothing to compare.
trends-rising = Rising
trends-falling = Falling
trends-steady = No pattern rises or falls clearly: the numbers are too small or too even to say so.
trends-shares = { $with } of { $of } sessions in the last 4 weeks, { $before-with } of { $before-of } in the 4 weeks before
trends-weeks = Sessions per week with friction of a kind; each week is named by its last day.
trends-kind = Kind
trends-all = all sessions

by-category = Recurring by category
one-offs = Seen in one session only: { $kinds }.

muted =
    { $count ->
        [one] { $count } pattern is muted and not listed.
       *[other] { $count } patterns are muted and not listed.
    }

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
title-interrupt-reply = Stopped while it wrote
summary-interrupt = A person stopped the agent while it worked.
advice-interrupt = Look at what was stopped: if it took too long, limit it; if it was wrong, say so in the instructions.
improve-interrupt = Find out why { $subject } gets stopped, and say in the instructions what to do instead
improve-interrupt-reply = Find out why replies get stopped, and say in the instructions what to do instead

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

kind-misunderstood-intent = misunderstanding
title-misunderstood-intent = Misunderstood: { $subject }
summary-misunderstood-intent = The agent set out to do something else than what was wanted.
advice-misunderstood-intent = Say what is wanted in the instructions, or have the agent say what it understood before it begins.
improve-misunderstood-intent = Say in the instructions what is wanted: { $subject }

kind-repeated-correction = repeated correction
title-repeated-correction = { $subject }
summary-repeated-correction = A person had to say the same thing again.
advice-repeated-correction = Make it a rule in the instructions.
improve-repeated-correction = Make it a rule: { $subject }

kind-clarification-gap = question not asked
title-clarification-gap = Not asked: { $subject }
summary-clarification-gap = The agent decided what it should have asked about.
advice-clarification-gap = Say in the instructions that the agent must ask before it decides this.
improve-clarification-gap = Have the agent ask first: { $subject }

kind-rule-violation = rule not kept
title-rule-violation = Not kept: { $subject }
summary-rule-violation = A rule that was written down was not kept.
advice-rule-violation = Make the rule shorter and put it where it is read, or have a hook enforce it.
improve-rule-violation = Make the rule clearer, or have a hook enforce it: { $subject }

kind-frustration = frustration
title-frustration = Lost patience: { $subject }
summary-frustration = The person lost patience.
advice-frustration = Look at what came before: what costs patience is mostly another pattern.
improve-frustration = Find out what came before: { $subject }

title-unspecific = Objections that do not say what is wrong
improve-unspecific = Look up what was objected to: the words alone do not say it

## Charts of the HTML page

chart-sessions-title = Sessions per week; each week is named by its last day
chart-sessions = Sessions per week, the oldest first: { $counts }
chart-pattern = Sessions per week with it, the oldest first: { $counts }
chart-rules = How often the pattern comes up with the rule, compared with how often it would without it: middle and 90 % interval; 1 is no change.
chart-rarer = rarer
chart-more-often = more often
chart-category = Category
chart-category-sessions = Sessions
chart-category-patterns = Patterns

## What a session begins with: one line

news-between = { " " }
news-read =
    { $count ->
        [one] { $count } session read.
       *[other] { $count } sessions read.
    }
news-patterns =
    { $count ->
        [one] New pattern: “{ $name }”
       *[other] { $count } new patterns, the strongest: “{ $name }”
    } ({ $how }).
news-drafts =
    { $count ->
        [one] { $count } drafted rule waits for your decision
       *[other] { $count } drafted rules wait for your decision
    } ({ $how }).
news-working = The rule about “{ $name }” works.
news-not-working = The rule about “{ $name }” does not work.
news-worse = The rule about “{ $name }” makes it worse.
news-verdicts =
    { $count ->
        [one] The verdict on { $count } other rule changed, too.
       *[other] The verdicts on { $count } other rules changed, too.
    }
news-version = The plugin is of version { $plugin }, the program of { $program }: they may not understand each other. { $how } shows how to bring them together.

## The status line

glance-patterns =
    { $count ->
        [one] { $count } pattern
       *[other] { $count } patterns
    }
glance-drafts =
    { $count ->
        [one] { $count } draft waits
       *[other] { $count } drafts wait
    }
glance-failing =
    { $count ->
        [one] { $count } rule does not work
       *[other] { $count } rules do not work
    }
glance-paused = paused
glance-nothing = nothing read yet
