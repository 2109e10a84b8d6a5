import {
  always,
  defined,
  described,
  type Fitting,
  integer,
  listOf,
  object,
  oneOf,
  orNull,
  text,
} from '../../schemas/closed.ts'

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
/** A request about a job, and its answer. */
export type StoryStep = Fitting<typeof storyStep>

export const story = object(
  { steps: listOf(storyStep) },
  {
    left: described('How many steps are left out.', count),
    leftAfter: described('After how many steps they are.', count),
  },
)
/** What happened on an application up to a wrong answer. */
export type Story = Fitting<typeof story>
