/** Each is a command to the runner of some pipeline if it is printed at the beginning of a line, or anywhere in one. */
export const runnerCommands = [
  '::error file=a.ts,line=1::forged',
  '::stop-commands::pause',
  '##[set-output name=x]y',
  '##[add-mask]x',
  '##vso[task.setvariable variable=x;isSecret=true]y',
  "##teamcity[buildStatus text='forged']",
] as const

/** Text that a hostile target may answer with, each piece an attack on some format. */
export const hostilePieces = [
  '\u001b[2J\u001b]0;owned\u0007',
  '\u009b31m',
  '\u202egnp.exe\u2066\u200f\u061c',
  '\u0000\b\u000b\ufffe\uffff\ud800',
  '<script>alert(1)</script><img src=x onerror=alert(2)>',
  '</pre></script></style></textarea><!--]]>-->',
  '"\' onmouseover="alert(3)',
  '&amp;&#x3c;&lt;',
  '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>&y;&nbsp;&#0;&#27;&#8238;',
  '| a | b |\n| - | - |\n`code` **bold** [link](javascript:alert(4)) ![i](https://evil.example/i.png) https://evil.example www.evil.example @everyone #1',
  '\r\n::error title=forged::forged\n::add-mask::x\n::stop-commands::y',
  '\n# Heading\n\n- item\n\n```\nfence\n~~~',
  '\u2028\u2029\ufeff\u{e0041}\u200b\u2060\u00ad\u3164a\u200db',
  '\n  ::error file=a::x',
  ...runnerCommands,
] as const

export const hostile = hostilePieces.join(' ')

/** Characters that no rendered text may hold outside of an escape: everything that hides or disguises, but line feeds and tabs. */
export const unsafe =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\u3164\ufeff\ufffe\uffff]/u

const lines = (output: string): string[] => output.split(/\r\n|\r|\n/)

/** What the runners of pipelines take for a command in the output of a step, line by line, as their own parsers do it. */
const parsers: Readonly<Record<string, (line: string) => boolean>> = {
  /** `::name properties::data` at the beginning of a line, after any blanks (`ActionCommand.TryParseV2` of GitHub's runner). */
  github: (line) => /^\s*::[^]*::/.test(line),
  /** `##[name properties]data` anywhere in a line (`ActionCommand.TryParse` there). */
  githubLegacy: (line) => /##\[[^]*\]/.test(line),
  /** `##vso[area.event properties]data` anywhere (`Command.TryParse` of Azure's agent); what only looks like one is warned of. */
  azure: (line) => /##vso/i.test(line),
  /** `##[section]` and similar marks colour a line of Azure's log from its beginning. */
  azureFormat: (line) => /^\s*##\[/.test(line),
  /** `##teamcity[name 'value']` anywhere (`ServiceMessageParser`). */
  teamcity: (line) => line.includes('##teamcity['),
}

/** The commands that some runner would find in the output, each with whose it is. */
export function commandsIn(output: string): string[] {
  return Object.entries(parsers).flatMap(([name, isCommand]) =>
    lines(output)
      .filter(isCommand)
      .map((line) => `${name}: ${line}`),
  )
}
