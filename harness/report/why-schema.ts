import {
  oneOf,
  type Fitting,
  described,
  either,
  object,
  listOf,
  text,
} from '../../schemas/closed.ts'

const absence = oneOf('not-served', 'removed')
/** How a target file says that there is no such operation. */
export type Absence = Fitting<typeof absence>

const leftOutBy = oneOf(
  '--only',
  '--failed',
  '--untested',
  '--skip',
  '--read-only',
  '--shard',
  '--bail',
  'interrupted',
)
/** Options that leave requirements out, and the end of the run. */
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
/** The kind of reason for which a requirement was not judged, and its facts. */
export type Why = Fitting<typeof why>
