import {
  always,
  oneOf,
  type Fitting,
  object,
  described,
  text,
  flag,
  integer,
  defined,
  listOf,
} from '../../schemas/closed.ts'
import type { RecordedRequest, FailureExchange } from '../recording/index.ts'
import { story } from './story-schema.ts'

const takes = oneOf(
  'idle-application', // with no job in progress, after those that the run made before
  'job-in-progress', // of the same application
  'job-elsewhere', // in progress on another application
  'job-before', // of the same application, and ended
  'job-of-run', // read as it was in the run, beside its other jobs
  'endless-job', // in progress for longer than it may be
  'refusal-before', // a request that was refused
  'requests-at-once', // sent at the same moment
  'more-requests', // than the target takes: it asked for patience
  'object-of-run', // made by another request of the run
  'chance', // the answers to one request differ
  'earlier-requests', // whatever was sent before: by itself it was answered otherwise when the run ended
)
/** States in which a request is wrong, and which that request does not bring about by itself. */
export type TakesState = Fitting<typeof takes>

export const failure = object(
  {
    message: described('What was sent.', text),
    expected: text,
    actual: text,
    familyOnly: described('The answer satisfies --tpe family; only the exact name is wrong.', flag),
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
      'The fault is how connections are treated: an answer is wrong on a reused one alone, or the key that was shown on one goes for all that follows.',
      oneOf('reused', 'remembers-key'),
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
