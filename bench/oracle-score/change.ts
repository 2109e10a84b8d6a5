import type { HttpAnswer } from '../../harness/http/message.ts'

/** What is done to a part of a answer. */
export type Kind =
  | 'added'
  | 'changed'
  | 'cut'
  | 'dropped'
  | 'emptied'
  | 'nulled'
  | 'renamed'
  | 'reordered'
  | 'repeated'
  | 'replaced'
  | 'retyped'

/** One change to one answer. */
export interface Change {
  /** `status`, `content type`, `body` (its bytes), else a path into the JSON value: `errors/0/key`, empty for the whole. */
  readonly at: string
  readonly kind: Kind
  /** What stands there now: a status, a content type, what became of the body. */
  readonly to?: string
  apply(answer: HttpAnswer): HttpAnswer
}

export function nameOf({ at, kind, to }: Change): string {
  return `${at === '' ? 'the whole' : at} ${kind}${to === undefined ? '' : `: ${to}`}`
}
