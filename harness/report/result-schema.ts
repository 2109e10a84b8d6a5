import {
  oneOf,
  type Fitting,
  described,
  either,
  object,
  listOf,
  text,
  always,
  defined,
  integer,
  orNull,
  flag,
  type Schema,
} from '../../schemas/closed.ts'
import type { RecordedRequest, FailureExchange } from '../recording/index.ts'

const absence = oneOf('not-served', 'removed')
export type Absence = Fitting<typeof absence>

export const choosing = ['--only', '--failed', '--skip', '--read-only'] as const

const leftOutBy = oneOf(...choosing, '--bail', 'interrupted')
export type LeftOutBy = Fitting<typeof leftOutBy>

export const why = described('The kind of the reason, and its facts. Other reasons have none.', {
  type: 'object',
  required: ['kind'],
  ...either(
    object({
      kind: oneOf('left-out'),
      by: described('The option that left it out; interrupted: the run ended before.', leftOutBy),
    }),
    object({
      kind: oneOf('undeclared'),
      needs: described(
        'What the target file lacks: of each need the names of which one will do.',
        listOf(listOf(text)),
      ),
      example: described('Part of a target file that declares it, as JSON text.', text),
    }),
    object(
      {
        kind: oneOf('absent'),
        absence: described('How the target file declares it, or seenBy.', absence),
      },
      { seenBy: described('Those by which alone the requirement is seen.', listOf(text)) },
    ),
    object({ kind: oneOf('unreachable'), note: described('The note of the target file.', text) }),
    object({
      kind: described(
        'The suite itself failed, or the target cannot be judged at all.',
        oneOf('mistake', 'target'),
      ),
    }),
  ),
})
export type Why = Fitting<typeof why>

const count = defined<number>('count')
const milliseconds = defined<number>('milliseconds')

const storyStep = object(
  {
    kind: oneOf('creation', 'reading'),
    sentMs: described('Since the story began.', milliseconds),
    endedMs: milliseconds,
    status: orNull(integer),
  },
  {
    job: described('The job by its number in the story, from 0.', count),
    state: described(
      'What the answer says of the job.',
      oneOf('in_progress', 'completed', 'failed'),
    ),
    tpe: text,
    isFaulty: described('The request was to be refused whatever the state.', always),
    isWrong: described('The answer that fails the requirement.', always),
  },
)
export type StoryStep = Fitting<typeof storyStep>

export const story = object(
  { steps: listOf(storyStep) },
  {
    left: described('How many steps are left out.', count),
    leftAfter: described('After how many steps they are.', count),
  },
)
/** The requests on an application up to a wrong answer. */
export type Story = Fitting<typeof story>

const takes = oneOf(
  'idle-application', // with no job in progress, after those that the run made before
  'job-in-progress', // of the same application
  'job-elsewhere', // in progress on another application
  'job-before', // of the same application, and ended
  'job-of-run', // read as it was in the run, beside its other jobs
  'endless-job', // in progress for longer than it may be
  'refusal-before', // a request that was refused
  'requests-at-once', // sent at the same moment
  'more-requests', // than the target accepts: it asked to slow down
  'object-of-run', // made by another request of the run
  'chance', // the answers to one request differ
  'earlier-requests', // any earlier requests: alone, at the end of the run, the request was answered differently
)
/** States that a failing request depends on and does not create by itself. */
export type TakesState = Fitting<typeof takes>

export const failure = object(
  {
    message: described('What was sent.', text),
    expected: text,
    actual: text,
    onlyName: described('Only the code name is wrong: --tpe family accepts the answer.', flag),
    seed: integer,
    rerun: described('The command that shows the failure again, without a key.', text),
  },
  {
    path: described('Where the counterexample stands among the generated cases.', text),
    at: described('JSON Pointer to the member of the response that is wrong or missing.', text),
    control: described(
      'The request without the fault, and the status by which it was granted.',
      object({ request: defined<RecordedRequest>('request'), status: integer }),
    ),
    connection: described(
      'The answer to the next request is wrong on a reused connection alone.',
      oneOf('reused'),
    ),
    toRefuse: described('The request had to be refused.', always),
    cites: described('How `expected` ends: the sections that it cites.', text),
    asked: described('The statuses and the names of errors that were asked for.', listOf(text)),
    noEnvelope: described(
      'The status is right, but the answer is no error envelope: see envelope/shape.',
      always,
    ),
    takes: described(
      'The state that the failure takes: the curl line sends its request alone, and may show something else.',
      takes,
    ),
    story: described('What happened on the application before, and with it.', story),
    later: described(
      'What the request by itself was answered when the run ended, in words, if that differs.',
      text,
    ),
    rerunIds: described(
      'The requirements that rerun selects: all that the failure needs to show again.',
      listOf(text),
    ),
    exchange: defined<FailureExchange>('exchange'),
  },
)
export type Failure = Fitting<typeof failure>

export const requirementId: Schema<string> = { type: 'string', maxLength: 256 }

const outcome = oneOf('passed', 'failed', 'not-exercised', 'not-applicable')
export type Outcome = Fitting<typeof outcome>

const result = object(
  {
    id: requirementId,
    operation: text,
    level: oneOf('must', 'should'),
    section: described('Sections of the interface description, comma separated.', text),
    statement: text,
    outcome,
    control: oneOf('granted', 'refused', 'none'),
    cases: described('Requests judged.', count),
    durationMs: described(
      'Of its own exchanges, one after the other, without the time that they waited for their turn.',
      milliseconds,
    ),
    failures: listOf(defined<Failure>('failure')),
  },
  { reason: described('Why it was not judged.', text), why: defined<Why>('why') },
)
export type AnyResult = Fitting<typeof result>

export const requirement: Schema = {
  ...result,
  if: { properties: { outcome: oneOf('not-exercised', 'not-applicable') }, required: ['outcome'] },
  then: { properties: { reason: true }, required: ['reason'] },
}
