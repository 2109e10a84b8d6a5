import { createForwarder } from '../../harness/http/index.ts'
import { parseJson, readBytes } from '../../harness/report/index.ts'
import { redactorFor, type Target, type TargetFile } from '../../harness/target-file/index.ts'
import { createClientJudge } from '../../traffic/client/client-judge.ts'
import { type Played, playScript, scriptOf } from '../../traffic/client/script.ts'
import { entryOf } from '../../traffic/record/recording.ts'
import { startReverseProxy } from '../../traffic/record/reverse-proxy.ts'
import { formatFiles, plannedReports, reportFiles, writeFiles } from '../output/files.ts'
import { complain } from '../output/say.ts'
import type { UserError } from '../../harness/user-error.ts'
import { clientFormats, clientFindingText, renderClient } from './client-formats.ts'

/** Requests to a client's judge, looked at before anything listens. */
export type ClientRequests = ReturnType<typeof clientRequests>

const { json, junit, markdown } = formatFiles

/** Throws UserError if a report cannot be written, or the script is none. */
export function clientRequests({
  report,
  script,
}: {
  readonly report: readonly string[]
  readonly script?: string
}) {
  return {
    ...plannedReports(report, { 'the script': script }, { json, junit, markdown }),
    script:
      script === undefined
        ? undefined
        : scriptOf(parseJson(readBytes(script).toString('utf8'), script), script),
  }
}

/**
 * Starts the server as a client sees it: all that is asked goes on to the reference, and is judged.
 * Rejects with what the system says if the port cannot be listened on.
 */
export async function startJudgedServer(
  target: Target,
  { scenarios = {} }: TargetFile,
  { people, requests, script }: ClientRequests,
  port: number,
) {
  const { baseUrl, limits } = target
  const tooEarly = (
    played: Played,
    { method, path }: { readonly method: string; readonly path: string },
  ): void => judge.tooEarly(played, method, path)
  const forwarder = playScript(script ?? new Map(), createForwarder({ baseUrl }), tooEarly)
  const judge = createClientJudge({
    ...{
      baseUrl,
      scenarios,
      script: forwarder,
      redactor: redactorFor(target),
      startedAt: new Date(),
    },
    onFinding: (finding) => void people.write(clientFindingText(finding)),
  })
  let exchanges = 0
  let seen = Promise.resolve()
  const { close, url } = await startReverseProxy({
    ...{ baseUrl, forwarder, port, bodyLimit: limits.maxAnswerBytes },
    room: () => undefined,
    onExchange(exchange) {
      const entry = entryOf(exchange, exchanges++, limits.maxAnswerBytes)
      seen = seen.then(async () => judge.see(await entry))
    },
  })
  return {
    url,
    /** Ends it, writes the reports, and sets the exit code. */
    async end(): Promise<void> {
      await close()
      await seen
      const report = judge.end(new Date())
      process.exitCode = report.exit.code
      people.write(`\n${renderClient(report)}`)
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
