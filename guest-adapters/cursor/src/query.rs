//! The SELECTs that are asked of Cursor's database.
//!
//! `state.vscdb` is one table of keys and values, `cursorDiskKV`. It may hold gigabytes, nearly all of them in values that
//! are of no use here, so the SELECTs go by ranges of keys and look into the values of `composerData:` only. A value may be
//! text or a blob, null, or no JSON: none of that may fail the SELECT.

/// Sessions: key, version, when it began.
///
/// The version is what Cursor says of the last change, how many messages there are, and how long the list and the last
/// message are: Cursor does not always say that a message has grown. (`;` is the character after `:`.)
pub(crate) const SESSIONS: &str = "
    SELECT
        substr(key, 14) AS key,
        json_extract(value, '$.lastUpdatedAt', '$.name', '$.conversationCheckpointLastUpdatedAt')
            || (SELECT count(*) FROM cursorDiskKV AS bubble
                WHERE bubble.key >= 'bubbleId:' || substr(composer.key, 14) || ':'
                    AND bubble.key < 'bubbleId:' || substr(composer.key, 14) || ';')
            || '/' || length(value)
            || '/' || coalesce((SELECT length(bubble.value) FROM cursorDiskKV AS bubble
                WHERE bubble.key = 'bubbleId:' || substr(composer.key, 14) || ':'
                    || json_extract(composer.value, '$.fullConversationHeadersOnly[#-1].bubbleId')), 0) AS version,
        CASE WHEN json_type(value, '$.createdAt') = 'integer' THEN json_extract(value, '$.createdAt') END AS begins_at
    FROM (
        SELECT key, CAST(value AS TEXT) AS value FROM cursorDiskKV
        WHERE key >= 'composerData:' AND key < 'composerData;'
    ) AS composer
    WHERE json_valid(value)";

/// Rows of a session: what is said of it, without the contexts that make it long; its messages in their order; those that
/// stand in it (up to 0.4x). Parts of a compound SELECT come one after the other, and `CROSS JOIN` keeps the list outermost.
pub(crate) const ROWS: &str = "
    WITH composer AS MATERIALIZED (
        SELECT CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(value AS TEXT) ELSE '{}' END AS value
        FROM cursorDiskKV WHERE key = 'composerData:' || :key
    )
    SELECT json_object(
        'composer', :key,
        'name', json_extract(value, '$.name'),
        'createdAt', json_extract(value, '$.createdAt'),
        'model', json_extract(value, '$.modelConfig.modelName'),
        'folder', coalesce(json_extract(value, '$.workspaceIdentifier.uri.fsPath'), json_extract(value, '$.currentDir')),
        'branch', coalesce(json_extract(value, '$.activeBranch.branchName'),
            json_extract(value, '$.gitWorktree.branchName'), json_extract(value, '$.createdOnBranch')),
        'parent', json_extract(value, '$.subagentInfo.parentComposerId'),
        'isOneOfSeveral', json_extract(value, '$.isBestOfNSubcomposer'))
    FROM composer
    UNION ALL
    SELECT '{\"id\":' || json_quote(header.id) || ',\"bubble\":' || coalesce(CAST(bubble.value AS TEXT), 'null') || '}'
    FROM (
        SELECT CASE WHEN item.type = 'object' THEN json_extract(item.value, '$.bubbleId') END AS id
        FROM composer CROSS JOIN json_each(composer.value, '$.fullConversationHeadersOnly') AS item
    ) AS header
    CROSS JOIN cursorDiskKV AS bubble ON bubble.key = 'bubbleId:' || :key || ':' || header.id
    UNION ALL
    SELECT '{\"id\":' || json_quote(json_extract(item.value, '$.bubbleId')) || ',\"bubble\":' || item.value || '}'
    FROM composer CROSS JOIN json_each(composer.value, '$.conversation') AS item
    WHERE item.type = 'object' AND coalesce(json_array_length(composer.value, '$.fullConversationHeadersOnly'), 0) = 0";
