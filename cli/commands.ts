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
  keygen: async () => (await import('./sign.ts')).keygenCommand(),
  sign: async () => (await import('./sign.ts')).signCommand(),
  register: async () => (await import('./verify.ts')).registerCommand(),
  verify: async () => (await import('./verify.ts')).verifyCommand(),
}

/** Groups of commands in the help. */
export const commandGroups: Readonly<Record<string, readonly string[]>> = {
  'While you write a server:': ['init', 'watch', 'ui', 'list', 'explain', 'serve', 'completion'],
  'Recorded traffic and reports:': ['record', 'check', 'merge', 'compare'],
  'Certificates:': ['keygen', 'sign', 'verify', 'register'],
}

/** A command line, and what it is for. */
type Example = readonly [line: string, what: string]

/** Shown at the end of the help of a command; those of the run itself are under `conform`. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  conform: [
    ['conform http://localhost:8080', 'judge what needs no target file'],
    ['conform init && conform -t conform.target.json', 'declare what the server holds, and judge it'],
    ["conform http://localhost:8080 --only 'jobs.*' --bail", 'a part, until something fails'],
    ['conform -t staging.json --report html --report json', 'with a page to read and a file to keep'],
    ['conform -t staging.json --failed conform-report.json', 'what failed in that run, again'],
    ['conform explain jobs.create/404-unknown-application', 'what a requirement asks for, and how it is tested'],
  ],
  serve: [['conform serve --port 8080', 'a server that keeps the interface, to try a client with']],
  init: [
    ['conform init staging.json --base-url https://staging.example.com', 'a target file to start from'],
    ['conform init next.json --from conform-report.json', 'one with all that a run lacked'],
  ],
  list: [["conform list 'jobs.*'", 'the requirements of two operations']],
  explain: [['conform explain translate.run/400-empty-text', 'the request, its one change, and what passes']],
  completion: [['source <(conform completion bash)', 'commands, options and ids are completed in this shell']],
  watch: [['conform watch -t conform.target.json', 'judge again on a key, and when the server restarts']],
  ui: [['conform ui -t conform.target.json', 'the same as a page']],
  record: [['conform record http://localhost:8080 --port 9000', 'point a client at port 9000: its traffic is judged']],
  check: [
    ['conform check traffic.har --base-url https://staging.example.com', 'judge what a browser or proxy recorded'],
  ],
  merge: [['conform merge part-1.json part-2.json --report html', 'one report of two shards']],
  compare: [
    ['conform compare monday.json tuesday.json --fail-on-new', 'what changed; exit 1 if a must is newly failing'],
    ['conform compare ours.json theirs.json --report html', 'two servers side by side, as a page'],
  ],
  keygen: [['conform keygen', 'a key pair for certificates']],
  sign: [['conform sign conform-report.json --private-key conform-key.pem', 'a certificate for that run']],
  register: [['conform register certificates --out public', 'a site of certified services']],
  verify: [['conform verify conform-certificate.json --require conformant', 'exit 0 if it is intact and says so']],
}

/** Each on a line of its own below what it is for, so that it can be copied and fits a narrow terminal. */
export function exampleText(name: string): string {
  const lines = (examples[name] ?? []).flatMap(([line, what]) => [`  # ${what}`, `  ${line}`])
  return lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}\n`
}
