// Tells TotalRecall that a session has something new to be read. OpenCode goes on whatever becomes of it, and waits for it at its end
// only, a second at most.
import { spawn } from "node:child_process"
import { readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const PROGRAM = "@PROGRAM@"
const MORE = ["@MORE@"]

// The database that was written to last: OpenCode has one for each of its channels.
const database = () => {
  const folder = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode")
  const age = (file) => Math.max(...[file, file + "-wal"].map((it) => statSync(it, { throwIfNoEntry: false })?.mtimeMs ?? 0))
  const files = readdirSync(folder).filter((name) => /^opencode.*\.db$/.test(name)).map((name) => join(folder, name))
  return files.sort((a, b) => age(b) - age(a))[0]
}

// Done once it was told, or could not be.
const tell = (event, session, directory, heard) =>
  new Promise((done) => {
    try {
      const child = spawn(PROGRAM, ["hook", event, ...MORE], {
        detached: true,
        windowsHide: true,
        stdio: ["pipe", heard ? "pipe" : "ignore", "ignore"],
      })
      child.on("error", done)
      child.on("exit", done)
      child.stdin.on("error", () => {})
      if (heard) {
        let said = ""
        child.stdout.on("error", () => {})
        child.stdout.on("data", (more) => (said += more))
        child.on("close", () => heard(said))
      }
      const about = { hook_event_name: event, session_id: session, cwd: directory, transcript_path: database() }
      child.stdin.end(JSON.stringify(about))
      child.unref()
    } catch {
      done()
    }
  })

export const TotalRecall = async ({ client, directory }) => {
  const sessions = new Set()
  // What is new is for someone who sees it: one line, in the terminal interface.
  const isSeen = !["run", "serve", "web", "acp"].includes(process.argv[2])
  const show = (said) => {
    try {
      const message = JSON.parse(said).systemMessage
      if (message) Promise.resolve(client.tui.showToast({ body: { message, variant: "info" } })).catch(() => {})
    } catch {}
  }
  return {
    "chat.message": async ({ sessionID }) => {
      if (sessions.has(sessionID)) return
      sessions.add(sessionID)
      if (isSeen) tell("SessionStart", sessionID, directory, show)
      else tell("UserPromptSubmit", sessionID, directory)
    },
    event: async ({ event }) => {
      const sessionID = event?.properties?.sessionID
      if (event?.type === "session.idle") {
        sessions.add(sessionID)
        tell("Stop", sessionID, directory)
      }
      if (event?.type === "session.deleted") sessions.delete(sessionID)
    },
    dispose: async () => {
      // OpenCode ends at once after this, and what is not written by then is lost. It takes milliseconds.
      const told = [...sessions].map((sessionID) => tell("SessionEnd", sessionID, directory))
      await Promise.race([Promise.all(told), new Promise((late) => setTimeout(late, 1000))])
    },
  }
}
