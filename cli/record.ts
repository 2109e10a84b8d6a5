import { Command } from 'commander'
import { join } from 'node:path'
import { createForwarder } from '../harness/http/forwarder.ts'
import { shellWord } from '../harness/shell-word.ts'
import { applyGates, type Gates } from '../harness/report/exit-code.ts'
import type { RecordedExchange } from '../harness/report/model.ts'
import { foreignBaselineFile } from '../harness/report/baseline.ts'
import { redactorFor } from '../harness/target-file/resolve-key.ts'
import type { Target } from '../harness/target-file/model.ts'
import { terminalText } from '../reporters/escape/terminal.ts'
import { checkTarget } from '../traffic/base-url.ts'
import type { Finding, Recorded } from '../traffic/record/recording.ts'
import { startRecorder } from '../traffic/record/recorder-thread.ts'
import { startReverseProxy } from '../traffic/record/reverse-proxy.ts'
import { learnSecrets } from '../traffic/secrets.ts'
import { countsLine } from './check.ts'
import {
  checkOutputs,
  inputFiles,
  formatNames,
  parseReportRequests,
  reportFiles,
  streamForPeople,
} from './output/files.ts'
import { loggedExchanges, makeRunFolder } from './output/run-folder.ts'
import { finish, type People } from './output/write-reports.ts'
import { warnOf } from './output/say.ts'
import { listenedOn, addGates, portOption } from './run/arguments.ts'
import { untilSignal } from './run/interrupts.ts'

interface RecordArguments extends Gates {
  readonly port: number
  readonly out: string
  readonly target?: string
  readonly insecure?: boolean
  readonly report: readonly string[]
}

export function recordCommand(): Command {
  const command = new Command('record')
    .description('a proxy before a server: records what a client of yours sends and gets, and judges it as check does')
    .argument('<base_url>', 'the server; the client is pointed at the proxy in its place')
    .addOption(portOption())
    .option('--out <file.har>', 'where the recording goes at the end, without keys', 'traffic.har')
    .option('-t, --target <file>', 'target file: what is not served, keys that no report may show, tls')
  return addGates(command, formatNames)
    .option('--insecure', 'accept certificates of the server that do not verify')
    .action(record)
}

async function record(baseUrl: string, options: RecordArguments): Promise<void> {
  const { baseline, out, target: path } = options
  const requests = [...parseReportRequests(options.report), { format: 'har' as const, path: out }]
  checkOutputs(reportFiles(requests), inputFiles({ 'the target file': path, 'the baseline': baseline }))
  const { target, warnings } = await checkTarget({
    ...{ baseUrl, derive: () => undefined, name: 'the base URL' },
    ...(path !== undefined && { target: path }),
  })
  const people = streamForPeople(requests)
  for (const warning of [...warnings, ...foreignBaselineFile(baseline, options.tpe ?? 'exact', target)]) warnOf(warning)
  const folder = makeRunFolder()
  try {
    const log = join(folder.path, 'exchanges.ndjson')
    const recorded = await recordUntilInterrupted(target, options, { log, people })
    const { exchanges, problem } = recorded
    await finish(applyGates(recorded.report, options, new Date()), {
      requests: problem === undefined ? requests : requests.filter(({ format }) => format !== 'har'),
      exchanges: () => withoutLateKeys(loggedExchanges(log), target, recorded),
      people,
      before: `${terminalText(countsLine(recorded.counts, recorded.report))}\n`,
      notes: [
        problem === undefined
          ? `${exchanges} ${exchanges === 1 ? 'exchange' : 'exchanges'} in ${out}`
          : `the exchanges could not be kept (${problem}): no HAR is written`,
      ],
    })
  } finally {
    folder.remove()
  }
}

async function recordUntilInterrupted(
  target: Target,
  { insecure = false, port, out }: RecordArguments,
  { log, people }: { readonly log: string; readonly people: People },
): Promise<Recorded> {
  const { baseUrl, limits, tls } = target
  const forwarder = createForwarder({ baseUrl, tls, insecure })
  const rerun = ['conform', 'check', out, '--base-url', baseUrl].map(shellWord).join(' ')
  const recorder = startRecorder({ target, log, rerun }, (finding) => people.write(findingText(finding)))
  const interrupted = untilSignal()
  const proxy = startReverseProxy({
    ...{ baseUrl, forwarder, port, bodyLimit: limits.maxAnswerBytes },
    room: () => recorder.room(),
    onExchange: (exchange) => recorder.add(exchange),
  })
  const { url, close } = await listenedOn(port, proxy).catch(async (error: unknown) => {
    await recorder.end()
    throw error
  })
  people.write(`${JSON.stringify({ url })}\n`)
  await interrupted
  await close()
  return recorder.end()
}

function findingText({ requirement, exchange, sent, expected, received }: Finding): string {
  const rows = [
    ['sent', `${sent} (exchange ${exchange})`],
    ['expected', expected],
    ['received', received],
  ] as const
  const lines = rows.map(([label, text]) => `    ${label.padEnd(10)}${terminalText(text)}`)
  return `✗ ${[terminalText(requirement), ...lines].join('\n')}\n`
}

/** Removes keys from what was written before they were first seen: a log-in answers with the token that is sent later. */
async function* withoutLateKeys(
  exchanges: AsyncIterable<RecordedExchange>,
  target: Target,
  { secrets, secretsUntil }: Recorded,
): AsyncGenerator<RecordedExchange> {
  const redactor = redactorFor(target)
  learnSecrets(redactor, secrets)
  for await (const exchange of exchanges) {
    yield exchange.n < secretsUntil
      ? (withoutKeys(exchange, (text) => redactor.text(text)) as RecordedExchange)
      : exchange
  }
}

function withoutKeys(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => withoutKeys(item, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), withoutKeys(member, redact)]))
}
