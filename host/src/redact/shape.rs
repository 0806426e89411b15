//! Keys that can be told by their looks: a fixed mark, followed (or surrounded) by a run of certain characters.
//!
//! One row a format. The facts are the providers' own: prefixes and lengths as their documentation states them or as
//! their keys are issued. Lengths are minimums, and the whole run is taken, so that a key glued to other text, or a key
//! that has grown with the years, leaves nothing behind.

use super::run::{Class, Runs, boundary, compact};
use super::span::Span;

/// A key format with a prefix.
pub(super) struct Prefix {
    /// What the marker calls it.
    pub(super) kind: &'static str,
    /// What it starts with, exactly.
    pub(super) mark: &'static str,
    body: Class,
    /// Fewest characters after the mark.
    min: usize,
    look: Look,
}

/// What keeps words that merely begin like a key from being taken for one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The mark says enough: nothing else begins like this.
    Mark,
    /// The mark also occurs inside words (`task-…` ends in `sk-`): it must begin one.
    Word,
    /// It must begin a word, and the body must not read like one: digits and letters in both cases, or a long row of
    /// hexadecimal digits.
    Random,
    /// It must begin a word, and a point follows after this many characters (`SG.`: 22 characters, a point, 43 more).
    Point(usize),
}

/// A key format known by something in its middle or end.
pub(super) struct Infix {
    pub(super) kind: &'static str,
    pub(super) mark: &'static str,
    left: (Class, usize),
    right: (Class, usize),
}

const fn mark(kind: &'static str, mark: &'static str, body: Class, min: usize) -> Prefix {
    Prefix { kind, mark, body, min, look: Look::Mark }
}

const fn word(kind: &'static str, mark: &'static str, body: Class, min: usize) -> Prefix {
    Prefix { kind, mark, body, min, look: Look::Word }
}

const fn random(kind: &'static str, mark: &'static str, body: Class, min: usize) -> Prefix {
    Prefix { kind, mark, body, min, look: Look::Random }
}

const fn infix(kind: &'static str, mark: &'static str, left: (Class, usize), right: (Class, usize)) -> Infix {
    Infix { kind, mark, left, right }
}

use Class::{Alnum, Base64, Dotted, Hex, Percent, Upper, Url};

/// Every format with a prefix, by provider.
pub(super) const PREFIXES: &[Prefix] = &[
    // Model providers.
    mark("anthropic-key", "sk-ant-", Url, 16),
    random("openai-key", "sk-", Url, 20),
    mark("openai-key", "sk-proj-", Url, 20),
    mark("openai-key", "sk-svcacct-", Url, 20),
    mark("openai-key", "sk-admin-", Url, 20),
    mark("openrouter-key", "sk-or-v1-", Url, 32),
    mark("langfuse-key", "sk-lf-", Url, 20),
    mark("groq-key", "gsk_", Alnum, 32),
    random("xai-key", "xai-", Alnum, 40),
    random("perplexity-key", "pplx-", Alnum, 32),
    word("replicate-key", "r8_", Alnum, 32),
    mark("nvidia-key", "nvapi-", Url, 40),
    word("huggingface-token", "hf_", Alnum, 30),
    mark("huggingface-token", "api_org_", Alnum, 30),
    mark("langsmith-key", "lsv2_pt_", Url, 32),
    mark("langsmith-key", "lsv2_sk_", Url, 32),
    random("tavily-key", "tvly-", Url, 20),
    word("firecrawl-key", "fc-", Hex, 32),
    // Clouds.
    word("aws-access-key", "AKIA", Upper, 16),
    word("aws-access-key", "ASIA", Upper, 16),
    word("aws-access-key", "ABIA", Upper, 16),
    word("aws-access-key", "ACCA", Upper, 16),
    mark("aws-signature", "X-Amz-Signature=", Hex, 32),
    mark("aws-bedrock-key", "ABSK", Base64, 100),
    mark("google-api-key", "AIza", Url, 35),
    mark("google-oauth-secret", "GOCSPX-", Url, 20),
    word("google-oauth-token", "ya29.", Url, 30),
    word("google-oauth-token", "1//0", Url, 40),
    mark("azure-storage-key", "AccountKey=", Base64, 40),
    mark("azure-key", "SharedAccessKey=", Base64, 20),
    mark("azure-sas-signature", "sig=", Percent, 40),
    mark("digitalocean-token", "dop_v1_", Alnum, 40),
    mark("digitalocean-token", "doo_v1_", Alnum, 40),
    mark("digitalocean-token", "dor_v1_", Alnum, 40),
    word("cloudflare-key", "v1.0-", Url, 60),
    word("cloudflare-token", "cfut_", Alnum, 36),
    word("cloudflare-token", "cfat_", Alnum, 36),
    word("alibaba-key", "LTAI", Alnum, 16),
    word("tencent-key", "AKID", Alnum, 32),
    mark("heroku-key", "HRKU-", Url, 30),
    word("fly-token", "fm2_", Base64, 60),
    word("fly-token", "fo1_", Url, 40),
    mark("vercel-token", "vercel_blob_rw_", Url, 20),
    word("vercel-token", "vcp_", Alnum, 24),
    word("vercel-token", "vci_", Alnum, 24),
    word("vercel-token", "vca_", Alnum, 24),
    word("vercel-token", "vcr_", Alnum, 24),
    word("vercel-token", "vck_", Alnum, 24),
    word("netlify-token", "nfp_", Alnum, 32),
    mark("supabase-key", "sbp_", Alnum, 32),
    mark("supabase-key", "sb_secret_", Url, 20),
    mark("planetscale-token", "pscale_", Dotted, 32),
    word("pulumi-token", "pul-", Hex, 40),
    word("vault-token", "hvs.", Url, 24),
    word("vault-token", "hvb.", Url, 24),
    word("doppler-token", "dp.pt.", Alnum, 40),
    word("doppler-token", "dp.st.", Dotted, 40),
    word("databricks-token", "dapi", Hex, 32),
    // Code hosting and registries.
    mark("github-token", "ghp_", Alnum, 30),
    mark("github-token", "gho_", Alnum, 30),
    mark("github-token", "ghu_", Alnum, 30),
    mark("github-token", "ghs_", Alnum, 30),
    mark("github-token", "ghr_", Alnum, 30),
    mark("github-token", "github_pat_", Url, 30),
    mark("gitlab-token", "glpat-", Dotted, 20),
    mark("gitlab-token", "gldt-", Dotted, 20),
    mark("gitlab-token", "glrt-", Dotted, 20),
    mark("gitlab-token", "glcbt-", Dotted, 20),
    mark("gitlab-token", "glptt-", Dotted, 20),
    mark("gitlab-token", "glft-", Dotted, 20),
    mark("gitlab-token", "glimt-", Dotted, 20),
    mark("gitlab-token", "glagent-", Dotted, 20),
    mark("gitlab-token", "glsoat-", Dotted, 20),
    mark("gitlab-token", "gloas-", Dotted, 20),
    mark("gitlab-token", "GR1348941", Url, 20),
    mark("atlassian-token", "ATATT3", Base64, 40),
    mark("atlassian-token", "ATCTT3", Base64, 40),
    word("bitbucket-token", "ATBB", Alnum, 28),
    mark("npm-token", "npm_", Alnum, 36),
    mark("pypi-token", "pypi-AgE", Url, 40),
    mark("rubygems-key", "rubygems_", Hex, 40),
    word("crates-token", "cio", Alnum, 32),
    word("nuget-key", "oy2", Alnum, 43),
    mark("docker-token", "dckr_pat_", Url, 20),
    mark("docker-token", "dckr_oat_", Url, 20),
    word("jfrog-key", "AKCp", Alnum, 60),
    // Messaging.
    word("slack-token", "xoxa-", Percent, 10),
    word("slack-token", "xoxb-", Percent, 10),
    word("slack-token", "xoxc-", Percent, 10),
    word("slack-token", "xoxd-", Percent, 10),
    word("slack-token", "xoxe-", Percent, 10),
    word("slack-token", "xoxe.", Percent, 10),
    word("slack-token", "xoxo-", Percent, 10),
    word("slack-token", "xoxp-", Percent, 10),
    word("slack-token", "xoxr-", Percent, 10),
    word("slack-token", "xoxs-", Percent, 10),
    word("slack-token", "xapp-", Percent, 20),
    mark("slack-webhook", "hooks.slack.com/services/", Base64, 20),
    mark("discord-webhook", "/api/webhooks/", Class::Path, 60),
    word("sendgrid-key", "SG.", Dotted, 60).point(22),
    word("sendinblue-key", "xkeysib-", Url, 60),
    word("mailgun-key", "key-", Hex, 32),
    // Payment and shops.
    mark("stripe-key", "sk_live_", Alnum, 16),
    mark("stripe-key", "sk_test_", Alnum, 16),
    mark("stripe-key", "rk_live_", Alnum, 16),
    mark("stripe-key", "rk_test_", Alnum, 16),
    mark("stripe-webhook-secret", "whsec_", Base64, 24),
    mark("shopify-token", "shpat_", Alnum, 32),
    mark("shopify-token", "shpca_", Alnum, 32),
    mark("shopify-token", "shppa_", Alnum, 32),
    mark("shopify-token", "shpss_", Alnum, 32),
    mark("square-token", "sq0atp-", Url, 20),
    mark("square-token", "sq0csp-", Url, 20),
    // Work tools and monitoring.
    mark("linear-key", "lin_api_", Alnum, 32),
    mark("linear-key", "lin_oauth_", Alnum, 32),
    word("notion-token", "ntn_", Alnum, 40),
    word("notion-token", "secret_", Alnum, 40),
    mark("figma-token", "figd_", Url, 30),
    mark("contentful-token", "CFPAT-", Url, 30),
    mark("postman-key", "PMAK-", Url, 30),
    mark("newrelic-key", "NRAK-", Alnum, 24),
    mark("grafana-token", "glsa_", Url, 30),
    word("grafana-token", "glc_", Base64, 32),
    mark("sentry-token", "sntrys_", Base64, 32),
    mark("sentry-token", "sntryu_", Alnum, 32),
    word("posthog-key", "phx_", Alnum, 32),
    mark("dynatrace-token", "dt0c01.", Dotted, 60),
    mark("age-key", "AGE-SECRET-KEY-1", Upper, 40),
    mark("onepassword-token", "ops_eyJ", Url, 40),
    // Twilio writes `SK` and 32 hexadecimal digits: the mark takes the first of them, being no mark otherwise.
    word("twilio-key", "SK0", Hex, 31),
    word("twilio-key", "SK1", Hex, 31),
    word("twilio-key", "SK2", Hex, 31),
    word("twilio-key", "SK3", Hex, 31),
    word("twilio-key", "SK4", Hex, 31),
    word("twilio-key", "SK5", Hex, 31),
    word("twilio-key", "SK6", Hex, 31),
    word("twilio-key", "SK7", Hex, 31),
    word("twilio-key", "SK8", Hex, 31),
    word("twilio-key", "SK9", Hex, 31),
    word("twilio-key", "SKa", Hex, 31),
    word("twilio-key", "SKb", Hex, 31),
    word("twilio-key", "SKc", Hex, 31),
    word("twilio-key", "SKd", Hex, 31),
    word("twilio-key", "SKe", Hex, 31),
    word("twilio-key", "SKf", Hex, 31),
];

/// Every format known by its middle.
pub(super) const INFIXES: &[Infix] = &[
    // Digits of the bot's id, a colon, 35 characters that begin with `AA`.
    infix("telegram-token", ":AA", (Class::Digit, 8), (Url, 32)),
    infix("openai-key", "T3BlbkFJ", (Url, 16), (Url, 16)),
    // Entra client secrets: three characters, a digit, `Q~`, 31 to 34 characters.
    infix("azure-client-secret", "7Q~", (Class::Tilde, 3), (Class::Tilde, 31)),
    infix("azure-client-secret", "8Q~", (Class::Tilde, 3), (Class::Tilde, 31)),
    infix("azure-key", "JQQJ99", (Alnum, 40), (Alnum, 20)),
    infix("terraform-token", ".atlasv1.", (Alnum, 14), (Url, 40)),
    infix("mailchimp-key", "-us", (Hex, 32), (Class::Digit, 1)),
];

impl Prefix {
    const fn point(mut self, at: usize) -> Self {
        self.look = Look::Point(at);
        self
    }

    /// The key that begins at `at`, where the mark was seen.
    pub(super) fn find(&self, text: &[u8], at: usize, runs: &mut Runs) -> Option<Span> {
        let start = at + self.mark.len();
        let end = runs.end(text, start, self.body);
        let body = text.get(start..end)?;
        let fits = body.len() >= self.min
            && match self.look {
                Look::Mark => true,
                Look::Word => boundary(text, at),
                Look::Random => boundary(text, at) && is_random(body),
                Look::Point(after) => boundary(text, at) && body.get(after) == Some(&b'.'),
            };
        // What is named before its value (`sig=`) keeps its name.
        let from = if self.mark.ends_with(['=', '/']) && self.mark != "1//0" { start } else { at };
        fits.then(|| Span::key(from, end, self.kind, self.mark))
    }
}

impl Infix {
    /// The key around the mark that was seen at `at`.
    pub(super) fn find(&self, text: &[u8], at: usize, runs: &mut Runs) -> Option<Span> {
        let (class, least) = self.left;
        let start = class.begin(text, at);
        if at - start < least {
            return None;
        }
        let after = at + self.mark.len();
        let (class, least) = self.right;
        let end = runs.end(text, after, class);
        (end - after >= least).then(|| Span::key(start, end, self.kind, self.mark))
    }
}

/// Does this look drawn by lot rather than written? `sk-learn-pipeline-steps-2024` does not.
fn is_random(body: &[u8]) -> bool {
    let head = compact(body);
    let digit = head.iter().any(u8::is_ascii_digit);
    let upper = head.iter().any(u8::is_ascii_uppercase);
    let lower = head.iter().any(u8::is_ascii_lowercase);
    let hex = Class::Hex.end(body, 0);
    (digit && upper && lower) || hex >= 32 || (digit && Alnum.end(body, 0) >= 32)
}
