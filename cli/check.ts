import { setFlagsFromString } from 'node:v8'
import { terminalText } from '../reporters/escape.ts'
import { warnOf } from '../library/output/say.ts'
import { Command } from '@commander-js/extra-typings'
import { applyGates, count, foreignBaselineFile, type Report } from '../harness/report/index.ts'
import { redactorFor } from '../harness/target/index.ts'
import { checkTarget } from '../traffic/base-url.ts'
import { judgeRecording, type Seen } from '../traffic/recording-judge.ts'
import { openHar } from '../traffic/read-har.ts'
import { recordingReport } from '../traffic/recording-report.ts'
import { createSurvey, learnSecrets } from '../traffic/secrets.ts'
import { formatNames } from '../reporters/index.ts'
import { plannedReports } from '../library/output/files.ts'
import { finish } from '../library/output/write-reports.ts'
import { addGates, type OptionsOf } from './run/arguments.ts'
import { shellWord } from '../harness/shell-word.ts'

export function checkCommand() {
  const command = new Command('check')
    .description('judge recorded traffic (HAR 1.2) without a live target')
    .argument('<file.har>', 'the recording; - is stdin')
    .option(
      '--base-url <url>',
      'the server to judge; default: baseUrl of the target file, or what the recording has before /v1/',
    )
    .option(
      '-t, --target <file>',
      'target file: what is not served, and the keys that no report may show',
    )
  return addGates(command, formatNames).action(async (file, options) => {
    // Nearly all of a long recording is garbage at once: a heap that grows by a third each time stays small.
    setFlagsFromString('--heap-growing-percent=30')
    const { baseline, target } = options
    const inputs = { 'the recording': file, 'the target file': target, 'the baseline': baseline }
    const { requests, people } = plannedReports(options.report, inputs)
    const { report, counts, warnings, exchanges } = await checkFile(file, options, new Date())
    for (const warning of warnings) warnOf(warning)
    await finish(report, {
      requests,
      exchanges,
      people,
      before: [terminalText(countsLine(counts, report))],
    })
  })
}

/** Judges a HAR file, as the options decide it; throws UserError if the file is not a HAR. */
export async function checkFile(
  file: string,
  options: Omit<OptionsOf<typeof checkCommand>, 'report'>,
  now: Date,
) {
  const survey = createSurvey()
  const har = openHar(file, (entry) => survey.see(entry))
  const { target, warnings: ofTarget } = await checkTarget(options, () =>
    survey.baseUrls.likeliest(file),
  )
  const redactor = redactorFor(target)
  learnSecrets(redactor, survey.secrets)
  const { baseUrl, target: path, tpe } = options
  const judged = await judgeRecording(har, target, redactor)
  const given = {
    '--base-url': baseUrl,
    '--target': path,
    '--tpe': tpe === 'family' ? tpe : undefined,
  }
  const words = Object.entries(given).flatMap(([option, value]) =>
    value === undefined ? [] : [option, value],
  )
  // It shows failures again, and holds no key.
  const rerun = ['conform', 'check', file, ...words].map(shellWord).join(' ')
  const report = applyGates(
    recordingReport({ target, redactor, judged, rerun, ...survey.time(now) }),
    options,
    now,
  )
  const warnings = [
    ...ofTarget,
    ...unreadableEntries(har.unreadable),
    ...noBodies(judged.bodies, har.creator),
    ...foreignBaselineFile(options.baseline, report.run.tpe, report.target),
  ]
  return { report, counts: judged.counts, warnings, exchanges: () => judged.exchanges() }
}

/** How much of the recording was judged, and what was passed over: `31 of 40 entries judged; ignored: 9 to other addresses` */
export function countsLine({ judged, ...counts }: Seen['counts'], { target }: Report): string {
  const { otherAddresses, otherMethods, unanswered, absent, unknown } = counts
  const ignored = [
    [otherAddresses, `to addresses not under ${target.baseUrl}/v1/`],
    [otherMethods, 'of methods other than GET and POST'],
    [unanswered, 'without an answer'],
    [absent, 'to operations declared as not served or removed'],
    [unknown, 'to paths that are no operation'],
  ] as const
  const parts = ignored.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []))
  const all = judged + otherAddresses + otherMethods + unanswered + absent + unknown
  return `${judged} of ${all} entries judged${parts.length > 0 ? `; ignored: ${parts.join(', ')}` : ''}`
}

const mostNamed = 3

function unreadableEntries(reasons: readonly string[]): string[] {
  if (reasons.length === 0) return []
  const named = reasons.slice(0, mostNamed).join('; ')
  const more = reasons.length > mostNamed ? `; and ${reasons.length - mostNamed} more` : ''
  return [`${count(reasons.length, 'entry', 'entries')} could not be read: ${named}${more}`]
}

/** How recorders are told to keep the bodies of answers, by the beginning of the name that they write. */
const withBodies: readonly [creator: RegExp, option: string][] = [
  [/^WebInspector/i, 'in the network panel of Chrome or Edge: "Save all as HAR with content"'],
  [/^Firefox/i, 'in Firefox: reload with the network monitor open, then "Save All As HAR"'],
  [/^Playwright/i, "with Playwright: recordHar: { content: 'embed' }"],
  [/^mitmproxy/i, 'with mitmproxy: without stream_large_bodies'],
  [/^BrowserMob/i, 'with BrowserMob Proxy: CaptureType.RESPONSE_CONTENT'],
]

/** Warnings if no answer of the interface was recorded with its body, or bodies are somewhere else: little can then be judged. */
function noBodies({ elsewhere, kept, missing }: Seen['bodies'], creator = ''): string[] {
  if (elsewhere > 0) {
    const files = count(elsewhere, 'body is in a file', 'bodies are in files')
    return [
      `${files} beside the recording, and not there: keep them together, or record with content: 'embed'`,
    ]
  }
  if (missing === 0 || kept > 0) return []
  const option =
    withBodies.find(([name]) => name.test(creator))?.[1] ??
    'with content (browsers: "Save all as HAR with content")'
  return [
    `the recording holds no bodies of answers, so only statuses and headers can be judged; record it ${option}`,
  ]
}
