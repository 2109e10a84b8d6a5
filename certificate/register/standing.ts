import { operationCount } from '../operations.ts'
import type { Registered } from './read-folder.ts'

/** The status of a certificate, in the words of pages, badges and `index.json`. */
export interface Standing {
  readonly tone: 'good' | 'fair' | 'bad' | 'none'
  /** A sign beside the words, for those who do not see the colour. */
  readonly sign: string
  /** Never a bare `conformant` for less than all operations of a whole run that is still to be relied on. */
  readonly words: string
}

export function standingOf({ status, statement: { predicate } }: Registered): Standing {
  const { verdicts, partial, operations } = predicate
  if (status === 'revoked') return { tone: 'bad', sign: '✕', words: 'revoked' }
  if (status === 'expired') return { tone: 'none', sign: '–', words: 'expired' }
  const judged = operations.judged.length
  const some = judged < operationCount ? `, ${judged} of ${operationCount} operations` : ''
  if (verdicts.exact === 'non-conformant') return { tone: 'bad', sign: '✕', words: `non-conformant${some}` }
  if (partial.length > 0) return { tone: 'fair', sign: '~', words: `${verdicts.exact}, partial${some}` }
  return { tone: 'good', sign: '✓', words: `${verdicts.exact}${some}` }
}
