//! Findings and patterns. Both are derived: a session's findings are replaced when its signals changed, the patterns when
//! findings changed. The marks that say so are set with the change itself, so a killed process leaves no stale report.

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::{PatternId, SessionId, Store, StoreError, TranscriptId};

/// Where a finding can be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The transcript.
    pub transcript: TranscriptId,
    /// Lines of it, ascending.
    pub lines: Vec<u64>,
}

/// One friction incident, to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFinding {
    /// Kind, kebab-case: `tool-error`.
    pub kind: String,
    /// What it is about, for people.
    pub subject: String,
    /// What it is about, for comparing: findings of one kind and cluster are one pattern.
    pub cluster: String,
    /// 1 to 5.
    pub severity: u8,
    /// 0 to 1.
    pub confidence: f64,
    /// When it happened.
    pub at: Option<i64>,
    /// Who found it: `signals`.
    pub source: String,
    /// One line for a person.
    pub detail: String,
    /// Where it can be seen.
    pub evidence: Vec<Evidence>,
}

/// A stored finding with what a report says of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its session.
    pub session: SessionId,
    /// The session's tool.
    pub tool: String,
    /// The tool's id of the session.
    pub native_id: String,
    /// The session's project.
    pub project: Option<String>,
    /// The session's title.
    pub title: Option<String>,
    /// When the session began.
    pub started_at: Option<i64>,
    /// The finding itself.
    pub finding: NewFinding,
}

/// A pattern, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPattern {
    /// Kind of its findings.
    pub kind: String,
    /// Cluster of its findings; unique with the kind.
    pub cluster: String,
    /// For people.
    pub title: String,
    /// 1 to 5.
    pub severity: u8,
    /// Distinct sessions.
    pub occurrences: u32,
    /// Time of the first finding.
    pub first_seen: i64,
    /// Time of the last finding.
    pub last_seen: i64,
    /// `active` or `fading`.
    pub status: String,
    /// Whatever else its author wants to keep; the store does not look into it.
    pub detail: String,
}

/// A stored pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its row.
    pub id: PatternId,
    /// The pattern itself.
    pub pattern: NewPattern,
}

const STALE: &str = "patterns-stale";

/// Notes that patterns no longer fit the findings.
pub(super) fn mark_stale(db: &Connection) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, '1')")?.execute([STALE]).map(drop)
}

impl Store {
    /// Sessions whose signals changed since their findings were made.
    ///
    /// # Errors
    /// As for any read.
    pub fn stale_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT id FROM session WHERE findings_stale ORDER BY id")?;
        Ok(find.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Replaces all findings of a session.
    ///
    /// # Errors
    /// As for any write; the findings stay as they were then.
    pub fn replace_findings(&mut self, session: SessionId, findings: &[NewFinding]) -> Result<(), StoreError> {
        self.write(|db| {
            let old = db.prepare_cached("DELETE FROM finding WHERE session_id = ?1")?.execute([session])?;
            let mut put = db.prepare_cached(
                "INSERT INTO finding (session_id, kind, subject, cluster, severity, confidence, at, source, detail,
                    evidence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?;
            for finding in findings {
                let evidence = serde_json::to_string(&finding.evidence).map_err(|error| unreadable(&error))?;
                put.execute(params![
                    session,
                    finding.kind,
                    finding.subject,
                    finding.cluster,
                    finding.severity,
                    finding.confidence,
                    finding.at,
                    finding.source,
                    finding.detail,
                    evidence,
                ])?;
            }
            db.prepare_cached("UPDATE session SET findings_stale = 0 WHERE id = ?1")?.execute([session])?;
            if old > 0 || !findings.is_empty() {
                mark_stale(db)?;
            }
            Ok(())
        })
    }

    /// All findings, in the order of their sessions.
    ///
    /// # Errors
    /// As for any read.
    pub fn findings(&self) -> Result<Vec<Finding>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT s.id, s.tool, s.native_id, s.project, s.title, s.started_at, f.kind, f.subject, f.cluster, f.severity,
                f.confidence, f.at, f.source, f.detail, f.evidence
             FROM finding f JOIN session s ON s.id = f.session_id ORDER BY s.id, f.id",
        )?;
        let mut rows = find.query([])?;
        let mut findings = Vec::new();
        while let Some(row) = rows.next()? {
            findings.push(finding(row)?);
        }
        Ok(findings)
    }

    /// Whether findings changed since the patterns were saved.
    ///
    /// # Errors
    /// As for any read.
    pub fn patterns_stale(&self) -> Result<bool, StoreError> {
        Ok(self.meta(STALE)?.is_some())
    }

    /// Makes the stored patterns equal to these. A pattern that stays keeps its id.
    ///
    /// # Errors
    /// As for any write; the patterns stay as they were then.
    pub fn save_patterns(&mut self, patterns: &[NewPattern]) -> Result<(), StoreError> {
        self.write(|db| {
            let mut put = db.prepare_cached(
                "INSERT INTO pattern (kind, cluster, title, severity, occurrences, first_seen, last_seen, status, detail)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (kind, cluster) DO UPDATE SET title = excluded.title, severity = excluded.severity,
                    occurrences = excluded.occurrences, first_seen = excluded.first_seen,
                    last_seen = excluded.last_seen, status = excluded.status, detail = excluded.detail
                 RETURNING id",
            )?;
            let mut kept = std::collections::HashSet::new();
            for pattern in patterns {
                let id: i64 = put.query_row(
                    params![
                        pattern.kind,
                        pattern.cluster,
                        pattern.title,
                        pattern.severity,
                        pattern.occurrences,
                        pattern.first_seen,
                        pattern.last_seen,
                        pattern.status,
                        pattern.detail,
                    ],
                    |row| row.get(0),
                )?;
                kept.insert(id);
            }
            let mut all = db.prepare_cached("SELECT id FROM pattern")?;
            let all: Vec<i64> = all.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let mut drop = db.prepare_cached("DELETE FROM pattern WHERE id = ?1")?;
            for id in all.into_iter().filter(|id| !kept.contains(id)) {
                drop.execute([id])?;
            }
            db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([STALE])?;
            Ok(())
        })
    }

    /// All patterns, in the order they were first stored.
    ///
    /// # Errors
    /// As for any read.
    pub fn patterns(&self) -> Result<Vec<Pattern>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT id, kind, cluster, title, severity, occurrences, first_seen, last_seen, status, detail
             FROM pattern ORDER BY id",
        )?;
        let rows = find.query_map([], |row| {
            let pattern = NewPattern {
                kind: row.get(1)?,
                cluster: row.get(2)?,
                title: row.get(3)?,
                severity: row.get(4)?,
                occurrences: row.get(5)?,
                first_seen: row.get(6)?,
                last_seen: row.get(7)?,
                status: row.get(8)?,
                detail: row.get(9)?,
            };
            Ok(Pattern { id: row.get(0)?, pattern })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn finding(row: &Row<'_>) -> Result<Finding, StoreError> {
    let evidence = row.get_ref(14)?.as_str().map_err(|error| unreadable(&error))?;
    Ok(Finding {
        session: row.get(0)?,
        tool: row.get(1)?,
        native_id: row.get(2)?,
        project: row.get(3)?,
        title: row.get(4)?,
        started_at: row.get(5)?,
        finding: NewFinding {
            kind: row.get(6)?,
            subject: row.get(7)?,
            cluster: row.get(8)?,
            severity: row.get(9)?,
            confidence: row.get(10)?,
            at: row.get(11)?,
            source: row.get(12)?,
            detail: row.get(13)?,
            evidence: serde_json::from_str(evidence).map_err(|error| unreadable(&error))?,
        },
    })
}

fn unreadable(error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Row { table: "finding", why: error.to_string() }
}
