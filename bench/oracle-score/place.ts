import type { OperationId } from '../../catalogue/operations.ts'
import type { Alter } from './alteration.ts'

/** What is altered: the form of an answer, what it has to do with its request, or how requests are read. */
export type Subject = 'form' | 'state' | 'requests'

/** One thing that a server may do wrong. */
export interface Place {
  readonly operation: OperationId
  readonly subject: Subject
  /** Of the one request that is concerned; undefined for all that the operation answers with that status. */
  readonly signature: string | undefined
  /** Status of the answer before the change; 0 for requests that are read as others, whatever they are answered. */
  readonly status: number
  readonly name: string
  /** Why a conforming server may do it; undefined if it may not. */
  readonly allowed: string | undefined
  readonly alter: Alter
}
