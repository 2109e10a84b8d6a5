import type { Command } from 'commander'

/** Every command but the run itself, loaded when it is asked for. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  init: async () => (await import('./init.ts')).initCommand(),
  list: async () => (await import('./list.ts')).listCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(commands),
  record: async () => (await import('./record.ts')).recordCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  merge: async () => (await import('./merge.ts')).mergeCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  watch: async () => (await import('./watch.ts')).watchCommand(),
  ui: async () => (await import('./ui.ts')).uiCommand(),
  keygen: async () => (await import('./keygen.ts')).keygenCommand(),
  sign: async () => (await import('./sign.ts')).signCommand(),
  register: async () => (await import('./register.ts')).registerCommand(),
  verify: async () => (await import('./verify.ts')).verifyCommand(),
}

/** Where the help shows a command. */
export const commandGroups: Readonly<Record<string, readonly string[]>> = {
  'While you write a server:': ['init', 'watch', 'ui', 'list', 'explain', 'serve', 'completion'],
  'Recorded traffic and reports:': ['record', 'check', 'merge', 'compare'],
  'Certificates:': ['keygen', 'sign', 'verify', 'register'],
}
