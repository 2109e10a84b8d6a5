import { type Reference, startReference } from 'ai-content-conformance/reference'

/** Starts the server to judge. Your own server goes here. */
export function start(): Promise<Reference> {
  return startReference()
}
