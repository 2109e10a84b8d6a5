import { createForwarder } from '../../harness/http/forwarder.ts'
import { parseJson, readBytes } from '../../harness/report/json-file.ts'
import type { Target, TargetFile } from '../../harness/target-file/model.ts'
import { redactorFor } from '../../harness/target-file/resolve-key.ts'
import { createClientJudge } from '../../traffic/client/client-judge.ts'
import { type Played, playScript, type Script, scriptOf } from '../../traffic/client/script.ts'
import { entryOf } from '../../traffic/record/recording.ts'
import { startReverseProxy } from '../../traffic/record/reverse-proxy.ts'
import {
  type ReportRequest,
  checkOutputs,
  formatFiles,
  inputFiles,
  parseReportRequests,
  reportFiles,
  streamForPeople,
  writeFiles,
} from '../output/files.ts'
import type { People } from '../output/write-reports.ts'
import { complain } from '../output/say.ts'
import type { UserError } from '../../harness/user-error.ts'
import { type ClientFormat, clientFormats, findingText, renderClient } from './client-formats.ts'

export interface JudgeClientOptions {
  readonly report: readonly string[]
  readonly script?: string
}

/** Requests to a client's judge, looked at before anything listens. */
export interface ClientRequests {
  readonly requests: readonly ReportRequest<ClientFormat>[]
  readonly script: Script | undefined
  readonly people: People
}

const { json, junit, markdown } = formatFiles

/** Throws UserError if a report cannot be written, or the script is none. */
export function clientRequests({ report, script }: JudgeClientOptions): ClientRequests {
  const requests = parseReportRequests(report, { json, junit, markdown })
  checkOutputs(reportFiles(requests), inputFiles({ 'the script': script }))
  return {
    requests,
    script: script === undefined ? undefined : scriptOf(parseJson(readBytes(script).toString('utf8'), script), script),
    people: streamForPeople(requests),
  }
}

/** The server as a client sees it: all that is asked goes on to the reference, and is judged. */
export interface JudgedServer {
  readonly url: string
  /** Ends it, writes the reports, and sets the exit code. */
  end(): Promise<void>
}

/** Rejects with what the system says if the port cannot be listened on. */
export async function startJudgedServer(
  target: Target,
  { scenarios = {} }: TargetFile,
  { people, requests, script }: ClientRequests,
  port: number,
): Promise<JudgedServer> {
  const { baseUrl, limits } = target
  const tooEarly = (played: Played, { method, path }: { readonly method: string; readonly path: string }): void =>
    judge.tooEarly(played, method, path)
  const forwarder = playScript(script ?? new Map(), createForwarder({ baseUrl }), tooEarly)
  const judge = createClientJudge({
    ...{ baseUrl, scenarios, script: forwarder, redactor: redactorFor(target), startedAt: new Date() },
    onFinding: (finding) => void people.write(findingText(finding)),
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
    async end() {
      await close()
      await seen
      const report = judge.end(new Date())
      process.exitCode = report.exit.code
      people.write(`\n${renderClient(report)}`)
      for (const { format, path } of requests) {
        const text = clientFormats[format](report)
        if (path === '-') process.stdout.write(text)
        else await writeFiles([[{ path, option: `--report ${format}=${path}` }, text]]).catch(failed)
      }
    },
  }
}

/** The other reports are still written. */
function failed({ message }: UserError): void {
  complain(message)
  process.exitCode = 2
}
