import { type Reference, startReference } from 'ai-content-conformance/reference'

/** Starts what is judged. Your own server goes here. */
export function start(): Promise<Reference> {
  return startReference()
}
