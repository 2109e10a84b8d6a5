import { Command } from '@commander-js/extra-typings'
import { join, resolve } from 'node:path'
import { createForwarder } from '../harness/http/index.ts'
import { shellWord } from '../harness/shell-word.ts'
import { applyGates, foreignBaselineFile, type RecordedExchange } from '../harness/report/index.ts'
import { redactorFor, type Target } from '../harness/target/index.ts'
import { terminalText } from '../reporters/escape.ts'
import { findingLines } from '../reporters/terminal/failure-lines.ts'
import { checkTarget, keyAtHand } from '../traffic/base-url.ts'
import type { Finding, Recorded, RecordingOptions } from '../traffic/record/recording.ts'
import { type CapturedExchange, startReverseProxy } from '../traffic/record/reverse-proxy.ts'
import { learnSecrets } from '../traffic/secrets.ts'
import { countsLine } from './check.ts'
import { formatNames } from '../reporters/index.ts'
import { plannedReports } from '../library/output/files.ts'
import { loggedExchanges, makeRunFolder, finish } from '../library/output/write-reports.ts'
import { colorsFor, type People, tell, warnOf } from '../library/output/say.ts'
import { addGates, listenedOn, type OptionsOf, portOption } from './run/arguments.ts'
import { endWith, runBeside } from './run/process.ts'
import { untilSignal } from './guard.ts'
import { clientFindingLines, clientSummary, heldToClient } from './client/formats.ts'
import type { ClientFinding } from '../traffic/client/finding.ts'
import { Worker } from 'node:worker_threads'
import { packageFile } from '../schemas/package-file.ts'
import type { ForWorker, FromWorker, ToWorker } from '../traffic/record/worker.ts'

export function recordCommand() {
  const command = new Command('record')
    .description(
      'a proxy before a server: records what a client of yours sends and gets, and judges it as check does',
    )
    .argument('<base_url>', 'the server; the client is pointed at the proxy in its place')
    .argument(
      '[command...]',
      'after --: run when the proxy is ready, with CONFORM_URL and, if they are known, CONFORM_TARGET and CONFORM_API_KEY; it ends with it',
    )
    .addOption(portOption())
    .option('--out <file.har>', 'where the recording goes at the end, without keys', 'traffic.har')
    .option(
      '-t, --target <file>',
      'target file: what is not served, keys that no report may show, tls',
    )
  return addGates(command, formatNames)
    .option('--insecure', 'accept certificates of the server that do not verify')
    .option('--judge-client', 'exit 1 also if a request of the client did not keep the interface')
    .option('--verbose', 'all that the client was answered')
    .action(async (baseUrl, words, options) => {
      await record(baseUrl, words, options)
    })
}

async function record(
  baseUrl: string,
  words: readonly string[],
  options: OptionsOf<typeof recordCommand>,
): Promise<void> {
  const { baseline, out, target: path } = options
  const inputs = { 'the target file': path, 'the baseline': baseline }
  const { requests, people } = plannedReports([...options.report, `har=${out}`], inputs)
  const { target, warnings } = await checkTarget({
    baseUrl,
    ...(path !== undefined && { target: path }),
  })
  for (const warning of [
    ...warnings,
    ...foreignBaselineFile(baseline, options.tpe ?? 'exact', target),
  ])
    warnOf(warning)
  const folder = makeRunFolder()
  try {
    const log = join(folder.path, 'exchanges.ndjson')
    const { code, recorded } = await recordUntilTheEnd(target, words, options, { log, people })
    const { client, exchanges, problem } = recorded
    const gated = applyGates(recorded.report, options, new Date())
    await finish(options.judgeClient === true ? heldToClient(gated, client) : gated, {
      requests:
        problem === undefined ? requests : requests.filter(({ format }) => format !== 'har'),
      exchanges: () => withoutLateKeys(loggedExchanges(log), target, recorded),
      people,
      before: [
        terminalText(countsLine(recorded.counts, recorded.report)),
        ...clientSummary(client, options.verbose === true),
      ],
      notes: [
        problem === undefined
          ? `${exchanges} ${exchanges === 1 ? 'exchange' : 'exchanges'} in ${out}`
          : `the exchanges could not be kept (${problem}): no HAR is written`,
      ],
    })
    endWith(words, code, people)
  } finally {
    folder.remove()
  }
}

async function recordUntilTheEnd(
  target: Target,
  words: readonly string[],
  { insecure, port, out, target: file }: OptionsOf<typeof recordCommand>,
  { log, people }: { readonly log: string; readonly people: People },
): Promise<{ readonly code: number | undefined; readonly recorded: Recorded }> {
  const { baseUrl, limits, tls } = target
  const forwarder = createForwarder({ baseUrl, tls, insecure: insecure === true })
  const rerun = ['conform', 'check', out, '--base-url', baseUrl].map(shellWord).join(' ')
  const recorder = startRecorder(
    { target, log, rerun },
    ({ exchange, expected, received, requirement, sent }) =>
      tell(
        people,
        findingLines(
          requirement,
          { sent: `${sent} (exchange ${exchange})`, expected, received },
          colorsFor(people),
        ),
      ),
    (finding) => tell(people, clientFindingLines(finding, colorsFor(people))),
  )
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
  const key = keyAtHand(target)
  try {
    const code = await runBeside(words, interrupted, {
      CONFORM_URL: url,
      CONFORM_TARGET: file === undefined ? undefined : resolve(file),
      ...(key !== undefined && { CONFORM_API_KEY: key }),
    })
    await close()
    return { code, recorded: await recorder.end() }
  } catch (error) {
    await close()
    await recorder.end()
    throw error
  }
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
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact(name), withoutKeys(member, redact)]),
  )
}

/** Bytes of exchanges that may wait to be judged; no further request is handed on meanwhile. */
const mostWaiting = 32 * 1024 * 1024

function startRecorder(
  options: RecordingOptions,
  onFinding: (finding: Finding) => void,
  onClientFinding: (finding: ClientFinding) => void,
) {
  /** Bytes that wait; the thread takes off what it has judged. */
  const waiting = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(packageFile('dist/record-worker.js'), {
    workerData: { options, waiting } satisfies ForWorker,
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  })
  const ended = new Promise<Recorded>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'finding') onFinding(message.finding)
      else if (message.kind === 'client') onClientFinding(message.finding)
      else resolve(message.recorded)
    })
    worker.on('error', reject)
  })
  // It is looked at when the recording ends.
  ended.catch(() => undefined)
  const tell = (message: ToWorker, moved: ArrayBuffer[] = []): void =>
    worker.postMessage(message, moved)
  const hasRoom = (): boolean => Atomics.load(waiting, 0) < mostWaiting
  const untilRoom = async (): Promise<void> => {
    while (!hasRoom())
      await Promise.race([ended, Atomics.waitAsync(waiting, 0, Atomics.load(waiting, 0)).value])
  }
  return {
    add(exchange: CapturedExchange): void {
      const bodies = [exchange.requestBody.bytes, exchange.body.bytes]
      const size = bodies.reduce((sum, { length }) => sum + length, 1024)
      Atomics.add(waiting, 0, size)
      const moved = bodies.map(({ buffer }) => buffer as ArrayBuffer)
      tell({ kind: 'exchange', exchange, size }, moved)
    },
    /** Settles when another exchange can be taken: memory is bounded, whatever comes. */
    room: (): Promise<void> | undefined => (hasRoom() ? undefined : untilRoom()),
    async end(): Promise<Recorded> {
      tell({ kind: 'end' })
      return ended
    },
  }
}
