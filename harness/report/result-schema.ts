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
import type { FailureExchange } from '../recording/index.ts'

const absence = oneOf('not-served', 'removed')
export type Absence = Fitting<typeof absence>

export const choosing = ['--only', '--failed', '--skip', '--read-only'] as const

const leftOutBy = oneOf(...choosing, '--bail', 'interrupted')
export type LeftOutBy = Fitting<typeof leftOutBy>

export const why = described('The kind of the reason, with its facts; absent for other reasons.', {
  type: 'object',
  required: ['kind'],
  ...either(
    object({
      kind: oneOf('left-out'),
      by: described('The option that left it out, or interrupted.', leftOutBy),
    }),
    object({
      kind: oneOf('undeclared'),
      needs: described(
        'What the target file lacks: alternatives for each need.',
        listOf(listOf(text)),
      ),
      example: described('Part of a target file to paste, as JSON.', text),
    }),
    object(
      {
        kind: oneOf('absent'),
        absence: described(
          'How the target file declares the operation, or those of seenBy.',
          absence,
        ),
      },
      { seenBy: described('The only operations that can show the requirement.', listOf(text)) },
    ),
    object({ kind: oneOf('unreachable'), note: described('The reason in the target file.', text) }),
    object({
      kind: described(
        'A bug in the suite, or a target that cannot be judged at all.',
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
    sentMs: described('Since the beginning of the story.', milliseconds),
    endedMs: milliseconds,
    status: orNull(integer),
  },
  {
    job: described('Index of the job in the story.', count),
    state: described(
      'What the answer says about the job.',
      oneOf('in_progress', 'completed', 'failed'),
    ),
    tpe: text,
    isFaulty: described('The request had to be refused in any state.', always),
    isWrong: described('The answer that fails the requirement.', always),
  },
)
export type StoryStep = Fitting<typeof storyStep>

export const story = object(
  { steps: listOf(storyStep) },
  {
    left: described('Number of omitted steps.', count),
    leftAfter: described('Number of steps before the omitted ones.', count),
  },
)
export type Story = Fitting<typeof story>

const takes = oneOf(
  'idle-application', // with no job in progress, after the earlier ones of the run
  'job-in-progress', // of the same application
  'job-elsewhere', // in progress on another application
  'job-before', // of the same application, and ended
  'job-of-run', // the state of this job during the run, among its other jobs
  'endless-job', // in progress for longer than it may be
  'refusal-before', // a request that was refused
  'requests-at-once', // sent at the same moment
  'more-requests', // than the target accepts: it asked to slow down
  'object-of-run', // made by another request of the run
  'chance', // the answers to one request differ
  'earlier-requests', // any earlier requests: alone, at the end of the run, the request was answered differently
)
export type TakesState = Fitting<typeof takes>

export const failure = object(
  {
    message: described('What was sent.', text),
    expected: text,
    actual: text,
    onlyName: described('Only the code name is wrong: --tpe family accepts the answer.', flag),
    seed: integer,
    rerun: described('The command that reproduces the failure, without a key.', text),
  },
  {
    path: described('Index of the counterexample among the generated cases.', text),
    connection: described(
      'The answer to the next request is wrong, but only on a reused connection.',
      oneOf('reused'),
    ),
    toRefuse: described('The request had to be refused.', always),
    cites: described('The end of `expected`: its sections, and a remark of the suite.', text),
    noEnvelope: described(
      'The status is right, but the answer is not an error envelope: see envelope/shape.',
      always,
    ),
    takes: described(
      'The state that the failure depends on: the curl line sends only the request, and may get another answer.',
      takes,
    ),
    story: described('The requests on the application up to the failure.', story),
    later: described(
      'The answer to the request alone at the end of the run, in words, if different.',
      text,
    ),
    rerunIds: described(
      'The requirements that rerun selects: all those needed to reproduce the failure.',
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
    durationMs: described('Sum of its own exchanges, without time in queues.', milliseconds),
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
