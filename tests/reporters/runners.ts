/**
 * Finds what the runners of pipelines take for a command in the output of a step, as their own parsers do it. Each is given the
 * whole output and gives what it found.
 */
type Parser = (output: string) => string[]

const lines = (output: string): string[] => output.split(/\r\n|\r|\n/)

/** `::name properties::data` at the beginning of a line, after any blanks (`ActionCommand.TryParseV2` of GitHub's runner). */
const github: Parser = (output) =>
  lines(output).filter((line) => {
    const message = line.trimStart()
    return message.startsWith('::') && message.indexOf('::', 2) >= 0
  })

/** `##[name properties]data` anywhere in a line (`ActionCommand.TryParse` there). */
const githubLegacy: Parser = (output) =>
  lines(output).filter((line) => {
    const prefix = line.indexOf('##[')
    return prefix >= 0 && line.indexOf(']', prefix) >= 0
  })

/** `##vso[area.event properties]data` anywhere (`Command.TryParse` of Azure's agent); what only looks like one is warned of. */
const azure: Parser = (output) => lines(output).filter((line) => /##vso/i.test(line))

/** `##[section]` and the like colour a line of Azure's log from its beginning. */
const azureFormat: Parser = (output) => lines(output).filter((line) => /^\s*##\[/.test(line))

/** `##teamcity[name 'value']` anywhere (`ServiceMessageParser`). */
const teamcity: Parser = (output) => lines(output).filter((line) => line.includes('##teamcity['))

const parsers = { github, githubLegacy, azure, azureFormat, teamcity }

/** The commands that some runner would find in the output, each with whose it is. */
export function commandsIn(output: string): string[] {
  return Object.entries(parsers).flatMap(([name, parse]) =>
    parse(output).map((line) => `${name}: ${line}`),
  )
}
