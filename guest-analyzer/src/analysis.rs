//! All detectors over the events of one transcript.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::analyzer::Descriptor;
use totalrecall_sdk::types::{Body, Event, Fault, Session};
use totalrecall_sdk::{Analyzer, Settings, Signal, SignalKind};

use crate::moment::{Moment, OpenCalls};
use crate::signal::Detector;
use crate::signal::api_error::ApiError;
use crate::signal::churn::Churn;
use crate::signal::compaction::Compaction;
use crate::signal::interrupt::Interrupted;
use crate::signal::permission_denied::PermissionDenied;
use crate::signal::repeated_instruction::RepeatedInstruction;
use crate::signal::retry_loop::RetryLoop;
use crate::signal::revert::Revert;
use crate::signal::tool_error::ToolError;
use crate::signal::unresolved_error::UnresolvedError;
use crate::signal::user_correction::UserCorrection;
use crate::thresholds::Thresholds;

/// The analysis of one transcript: everything that later signals depend on. They depend on the events and their order
/// alone, not on how they are cut into calls nor on where a checkpoint was taken.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Friction {
    thresholds: Thresholds,
    /// Id of the session that the transcript tells now.
    session: Option<String>,
    cwd: String,
    calls: OpenCalls,
    detectors: Detectors,
}

macro_rules! detectors {
    ($($name:ident: $detector:ty,)*) => {
        #[derive(Debug, Default, Serialize, Deserialize)]
        struct Detectors {
            $($name: $detector,)*
        }

        impl Detectors {
            fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
                $(self.$name.observe(moment, found);)*
            }

            fn conclude(&self, thresholds: &Thresholds, found: &mut Vec<Signal>) {
                $(self.$name.conclude(thresholds, found);)*
            }
        }

        fn kinds() -> Vec<SignalKind> {
            vec![$(<$detector>::kind(),)*]
        }
    };
}

// The order is that of signals seen in one record.
detectors! {
    tool_error: ToolError,
    permission_denied: PermissionDenied,
    interrupt: Interrupted,
    user_correction: UserCorrection,
    repeated_instruction: RepeatedInstruction,
    churn: Churn,
    revert: Revert,
    retry_loop: RetryLoop,
    api_error: ApiError,
    compaction: Compaction,
    unresolved_error: UnresolvedError,
}

impl Analyzer for Friction {
    fn describe() -> Descriptor {
        Descriptor {
            name: "friction".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            signals: kinds(),
            settings: Thresholds::settings(),
        }
    }

    fn new(settings: &Settings) -> Result<Self, Fault> {
        Ok(Self { thresholds: Thresholds::read(settings)?, ..Self::default() })
    }

    fn observe(&mut self, events: &[Event], signals: &mut Vec<Signal>) -> Result<(), Fault> {
        for event in events {
            if let Body::Session(session) = &event.body {
                // A sub-agent is filed under its session.
                if event.thread.is_none() {
                    self.enter(session, signals);
                }
                if let Some(cwd) = &session.cwd {
                    self.cwd = cwd.replace('\\', "/");
                }
            }
            let call = self.calls.follow(event);
            let moment = Moment {
                event,
                call: call.as_ref(),
                open: self.calls.last(),
                cwd: &self.cwd,
                thresholds: &self.thresholds,
            };
            self.detectors.observe(&moment, signals);
        }
        Ok(())
    }

    fn conclude(&mut self, signals: &mut Vec<Signal>) -> Result<(), Fault> {
        self.detectors.conclude(&self.thresholds, signals);
        Ok(())
    }
}

impl Friction {
    /// The transcript tells of this session from here on. Some tools write many into one file: what was done in another one is
    /// neither repeated nor retried in this one, and what ended there on an error stays so. A fork goes on with what it copied.
    fn enter(&mut self, session: &Session, signals: &mut Vec<Signal>) {
        let Some(id) = &session.id else { return };
        let before = self.session.replace(id.clone());
        if before.is_some_and(|before| before != *id && session.parent.as_ref() != Some(&before)) {
            self.detectors.conclude(&self.thresholds, signals);
            self.detectors = Detectors::default();
            self.calls = OpenCalls::default();
        }
    }
}
