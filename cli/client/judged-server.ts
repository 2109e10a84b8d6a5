import { createForwarder } from '../../harness/http/index.ts'
import { parseJson, readBytes } from '../../harness/report/index.ts'
import { redactorFor, type Target, type TargetFile } from '../../harness/target/index.ts'
import { createClientJudge } from '../../traffic/client/client-judge.ts'
import { playScript, scriptOf } from '../../traffic/client/script.ts'
import { entryOf } from '../../traffic/record/recording.ts'
import { startReverseProxy } from '../../traffic/record/reverse-proxy.ts'
import { writeFiles, formatFiles, plannedReports, reportFiles } from '../../library/output/files.ts'
import { colorsFor, complain, tell } from '../../library/output/say.ts'
import type { UserError } from '../../harness/user-error.ts'
import { clientFindingLines, clientFormats, clientReportLines } from './formats.ts'

export type ClientRequests = ReturnType<typeof clientRequests>

const { json, junit, markdown } = formatFiles

/** Throws UserError if a report cannot be written, or the script is none. */
export function clientRequests({
  judgeClient = false,
  report,
  script,
  verbose = false,
}: {
  readonly judgeClient?: boolean
  readonly report: readonly string[]
  readonly script?: string
  readonly verbose?: boolean
}) {
  return {
    ...plannedReports(report, { 'the script': script }, { json, junit, markdown }),
    ...{ isJudged: judgeClient, isVerbose: verbose },
    script:
      script === undefined
        ? undefined
        : scriptOf(parseJson(readBytes(script).toString('utf8'), script), script),
  }
}

/**
 * Starts the server as a client sees it: a script answers before the reference does, and all that is asked is judged.
 * Rejects with what the system says if the port cannot be listened on.
 */
export async function startJudgedServer(
  target: Target,
  { keys, scenarios = {} }: TargetFile,
  { isJudged, isVerbose, people, requests, script = new Map() }: ClientRequests,
  port: number,
) {
  const { baseUrl, limits } = target
  const forwarder = playScript(script, createForwarder({ baseUrl }))
  const wrongKeys = [keys?.expired, keys?.restricted].filter((key) => typeof key === 'string')
  const judge = createClientJudge({
    ...{ baseUrl, redactor: redactorFor(target), wrongKeys },
    reference: { scenarios, script: forwarder },
    onFinding: (finding) => tell(people, clientFindingLines(finding, colorsFor(people))),
  })
  const startedAt = new Date()
  let exchanges = 0
  let seen = Promise.resolve()
  const { close, url } = await startReverseProxy({
    ...{ baseUrl, forwarder, port, bodyLimit: limits.maxAnswerBytes },
    room: () => undefined,
    onExchange(exchange) {
      if (!isJudged) return
      const entry = entryOf(exchange, exchanges++, limits.maxAnswerBytes)
      seen = seen.then(async () => judge.see(await entry))
    },
  })
  return {
    ...{ close, url },
    async end(): Promise<void> {
      await close()
      await seen
      if (!isJudged) return
      const report = judge.end({ startedAt, durationMs: Date.now() - startedAt.getTime() })
      process.exitCode = report.exit.code
      tell(people, ['', ...clientReportLines(report, isVerbose)])
      for (const { format, path } of requests)
        if (path === '-') process.stdout.write(clientFormats[format](report))
      for (const file of reportFiles(requests)) {
        try {
          await writeFiles([[file, clientFormats[file.format](report)]])
        } catch (error) {
          // The other reports are still written.
          complain((error as UserError).message)
          process.exitCode = 2
        }
      }
    },
  }
}
