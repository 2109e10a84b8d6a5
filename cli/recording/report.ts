import {
  type Failure,
  type Report,
  type RequirementResult,
  assembleReport,
  noRun,
  reasonIn,
  sections,
} from '../../harness/report/index.ts'
import { type Redactor, shownText } from '../../harness/recording/index.ts'
import { notApplicable } from '../../suites/plan.ts'
import type { Target } from '../../harness/target/index.ts'
import { describeProbe, describeResponse } from '../../harness/journal/index.ts'
import { catalogue, type CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { RecordedEntry } from './entry.ts'
import type { EntryExchange } from './exchange.ts'
import type { JudgedRecording, RecordedFault, Tally } from './judge.ts'

interface RecordingFacts {
  readonly target: Target
  readonly redactor: Redactor
  readonly judged: JudgedRecording
  readonly entries: readonly RecordedEntry[]
  readonly now: Date
  readonly rerun: string
}

const notShown = 'recorded traffic does not show it'
const nothingShown =
  'the recording has no answered request to an operation of the interface under its base URL'

export function recordingReport(facts: RecordingFacts): Report {
  const { target, redactor, judged } = facts
  const everything = { only: [], skip: [], readOnly: false, interrupted: false, runs: 0 }
  const requirements = catalogue.map((requirement) => {
    const refused = notApplicable(requirement, target)
    return refused
      ? { ...resultOf(requirement), outcome: 'not-applicable' as const, ...reasonIn(refused) }
      : resultOf(requirement, facts)
  })
  return assembleReport({
    target: { name: target.name, baseUrl: redactor.text(target.baseUrl), digest: target.digest },
    run: {
      ...noRun,
      ...timeOf(facts),
      requests: judged.requests,
    },
    requirements,
    judged: everything,
    notJudged: whyNotJudged(requirements, judged),
  })
}

function timeOf(recordingFacts: RecordingFacts) {
  let [first, last] = [Infinity, -Infinity]
  for (const { startedAt, durationMs } of recordingFacts.entries) {
    if (startedAt === undefined) continue
    first = Math.min(first, startedAt)
    last = Math.max(last, startedAt + durationMs)
  }
  return first === Infinity
    ? { startedAt: recordingFacts.now.toISOString(), durationMs: 0 }
    : { startedAt: new Date(first).toISOString(), durationMs: Math.round(last - first) }
}

/** Without a success nothing is judged: the meaning of refused requests is unknown. */
function whyNotJudged(
  requirements: readonly RequirementResult[],
  judgedRecording: JudgedRecording,
): string | undefined {
  const isShown = requirements.some(
    (requirement) =>
      requirement.outcome === 'failed' ||
      (requirement.outcome === 'passed' && requirement.operation !== 'envelope'),
  )
  if (isShown) return undefined
  return judgedRecording.requests === 0
    ? `nothing was judged: ${nothingShown}`
    : 'nothing was judged: the recording contains no successful response of the interface'
}

function resultOf(requirement: CatalogueRequirement, facts?: RecordingFacts): RequirementResult {
  const { id, operation, level, section, statement } = requirement
  const tally = facts?.judged.tally(id)
  return {
    ...{ id, operation, level, section, statement },
    ...outcomeOf(tally, facts?.judged.requests === 0),
    control: 'none',
    cases: tally?.cases ?? 0,
    durationMs: 0,
    failures:
      facts && tally ? tally.failures.map((seen) => failureOf(requirement, seen, facts)) : [],
  }
}

function outcomeOf(
  tally: Tally | undefined,
  empty: boolean,
): Pick<RequirementResult, 'outcome' | 'reason'> {
  if (tally && tally.failures.length > 0) return { outcome: 'failed' }
  if (tally && tally.cases > 0) return { outcome: 'passed' }
  return { outcome: 'not-exercised', reason: tally?.unjudged ?? (empty ? nothingShown : notShown) }
}

function failureOf(
  requirement: CatalogueRequirement,
  { actual, exchange, expected, story }: RecordedFault,
  recordingFacts: RecordingFacts,
): Failure {
  const cites = ` (${sections(requirement.section)})`
  const clean = (text: string): string =>
    shownText(text, (whole) => recordingFacts.redactor.text(whole))
  const { index } = (exchange as EntryExchange).entry
  return {
    message: clean(describeProbe(exchange, `(log.entries[${index}])`)),
    expected: clean(expected + cites),
    cites,
    actual: clean(typeof actual === 'function' ? actual() : (actual ?? describeResponse(exchange))),
    onlyName: false,
    seed: 0,
    rerun: recordingFacts.rerun,
    ...(story !== undefined && { story }),
    exchange: exchange.recorded(),
  }
}
