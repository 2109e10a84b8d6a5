import { BroadcastChannel } from 'node:worker_threads'
import type { RunFacts } from './facts.ts'
import type { EndCause } from './outcome.ts'

/** What the command line and the worker that judges tell each other. */
export type Message =
  | { readonly kind: 'end'; readonly cause: EndCause; readonly reason: string }
  | { readonly kind: 'facts'; readonly facts: RunFacts }
  | { readonly kind: 'closed' }
  | { readonly kind: 'key?'; readonly name: string; readonly ask: number }
  | { readonly kind: 'key'; readonly ask: number; readonly value?: string; readonly problem?: string }

export interface Bridge {
  post(message: Message): void
  close(): void
}

/** A channel between the threads of one process, by a name that no other run has. */
export function openBridge(name: string, onMessage: (message: Message) => void): Bridge {
  const channel = new BroadcastChannel(name)
  channel.onmessage = (event) => onMessage((event as { data: Message }).data)
  channel.unref()
  return { post: (message) => channel.postMessage(message), close: () => channel.close() }
}
