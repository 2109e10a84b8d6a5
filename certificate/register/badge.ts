import { makeBadge } from 'badge-maker'
import type { Registered } from './read-folder.ts'
import { standingOf } from './standing.ts'

const colors = { good: 'brightgreen', fair: 'yellow', bad: 'red', none: 'lightgrey' } as const

/** An SVG badge with the status of the service; its description says until when it is valid. */
export function registerBadge(current: Registered): string {
  const { tone, words } = standingOf(current)
  const badge = makeBadge({ label: 'conformance', message: words, color: colors[tone], style: 'flat' })
  if (current.status !== 'valid') return badge
  const until = current.statement.predicate.expiresAt.slice(0, 10)
  return badge.replace('</title>', `</title><desc>valid until ${until}</desc>`)
}
