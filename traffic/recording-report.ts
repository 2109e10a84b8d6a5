import type { Failure, Report, RequirementResult } from '../harness/report/index.ts'
import { assembleReport, noRun, reasonIn, sections } from '../harness/report/index.ts'
import { type Redactor, shownText } from '../harness/recording/index.ts'
import { notApplicable } from '../suites/plan.ts'
import type { Target } from '../harness/target/index.ts'
import { describeProbe, describeResponse } from '../harness/engine/index.ts'
import { catalogue, type CatalogueRequirement } from '../catalogue/catalogue.ts'
import type { RecordedFault, RequirementTally, Seen } from './recording-judge.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'

interface RecordingFacts {
  readonly target: Target
  readonly redactor: Redactor
  readonly judged: Seen
  readonly startedAt: Date
  readonly durationMs: number
  /** The command that shows a failure again. */
  readonly rerun: string
}

/** Reasons for which recorded traffic leaves a requirement not exercised: nobody knows what a refused request meant. */
const notShown = 'recorded traffic does not show it'
const nothingShown =
  'the recording has no answered request to an operation of the interface under its base URL'

/** The report of a recording: every requirement of the catalogue, in its order. */
export function recordingReport(facts: RecordingFacts): Report {
  const { target, redactor, judged, startedAt, durationMs } = facts
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
      startedAt: startedAt.toISOString(),
      durationMs: Math.round(durationMs),
      requests: judged.counts.judged,
    },
    requirements,
    judged: everything,
    notJudged: whyNotJudged(requirements, judged),
  })
}

/** Nothing is judged without a success: what a refused request meant, nobody knows. */
function whyNotJudged(
  requirements: readonly RequirementResult[],
  { counts: { judged } }: Seen,
): string | undefined {
  const isShown = requirements.some(
    ({ operation, outcome }) =>
      outcome === 'failed' || (outcome === 'passed' && operation !== 'envelope'),
  )
  if (isShown) return undefined
  return judged === 0
    ? `nothing was judged: ${nothingShown}`
    : 'nothing was judged: the recording shows no success of an operation that could be recognised'
}

function resultOf(requirement: CatalogueRequirement, facts?: RecordingFacts): RequirementResult {
  const { id, operation, level, section, statement } = requirement
  const tally = facts?.judged.tally(id)
  return {
    ...{ id, operation, level, section, statement },
    ...outcomeOf(tally, facts?.judged.counts.judged === 0),
    control: 'none',
    cases: tally?.cases ?? 0,
    durationMs: 0,
    failures:
      facts && tally ? tally.failures.map((seen) => failureOf(requirement, seen, facts)) : [],
  }
}

function outcomeOf(
  tally: RequirementTally | undefined,
  empty: boolean,
): Pick<RequirementResult, 'outcome' | 'reason'> {
  if (tally && tally.failures.length > 0) return { outcome: 'failed' }
  if (tally && tally.cases > 0) return { outcome: 'passed' }
  return { outcome: 'not-exercised', reason: tally?.unjudged ?? (empty ? nothingShown : notShown) }
}

/** Response that came, if it is wrong. */
export function receivedIn({ actual, exchange }: RecordedFault): string {
  return typeof actual === 'function' ? actual() : (actual ?? describeResponse(exchange))
}

function failureOf(
  { section }: CatalogueRequirement,
  fault: RecordedFault,
  { redactor, rerun }: RecordingFacts,
): Failure {
  const { at, exchange, expected, story } = fault
  const cites = ` (${sections(section)})`
  const clean = (text: string): string => shownText(text, (whole) => redactor.text(whole))
  const { index } = (exchange as RecordedHttpResponse).entry
  return {
    message: clean(describeProbe(exchange, `(log.entries[${index}])`)),
    expected: clean(expected + cites),
    cites,
    actual: clean(receivedIn(fault)),
    familyOnly: false,
    seed: 0,
    rerun,
    ...(at !== undefined && { at }),
    ...(story !== undefined && { story }),
    exchange: exchange.recorded,
  }
}
