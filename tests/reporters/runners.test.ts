/** No text of a target, or of a stranger's file, is a command to the runner that prints it. */
import fc from 'fast-check'
import pc from 'picocolors'
import { expect, test } from 'vitest'
import { curlOf } from '../../harness/recording/curl.ts'
import { terminalLines, terminalText } from '../../reporters/escape.ts'
import { formatNames, loadFormats } from '../../reporters/index.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { hostile, runnerCommands } from './hostile.ts'
import { commandsIn } from './runners.ts'
import { joined } from './sample-exchanges.ts'
import { reportOfText } from './sample-report.ts'

test.each(runnerCommands)('the parsers find %s', (command) => {
  expect(commandsIn(command)).not.toEqual([])
  expect(commandsIn(`text\n  ${command}`)).not.toEqual([])
})

const report = reportOfText(`::error::${hostile}`, 60)

test('the report for a terminal, in colours or without, holds no command', () => {
  for (const colors of [pc.createColors(false), pc.createColors(true)]) {
    expect(commandsIn(renderTerminal(report, colors, { notes: [hostile] }))).toEqual([])
  }
})

test.each(formatNames)('%s on stdout holds no command', async (format) => {
  const { [format]: render } = await loadFormats()
  const text = await joined(render(report, []))
  expect(text.length).toBeGreaterThan(100)
  expect(commandsIn(text)).toEqual([])
})

test('no text makes a command, whatever is in it', () => {
  const unit = fc.constantFrom(...'#:[]vso \n\u3000\r', ...runnerCommands)
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      expect(commandsIn(terminalText(text))).toEqual([])
      expect(commandsIn(terminalLines(text))).toEqual([])
    }),
    { seed: 19, numRuns: 500 },
  )
})

test('a curl line is one line without a command, and sends the same', () => {
  const request = {
    method: 'POST',
    url: 'http://t.test/##vso[x]',
    headers: { 'x-a': '##[b]' },
    body: '"##teamcity[x]"',
  }
  const line = curlOf(request, new Set(['x-a']))
  expect(commandsIn(line)).toEqual([])
  const shell = line.replaceAll("''", '').replaceAll('""', '')
  expect(shell).toContain("'http://t.test/##vso[x]'")
  expect(shell).toContain('"x-a: ##[b]"')
  const lines = curlOf({ ...request, body: 'a\n::error::b' }, new Set())
  expect(lines).toMatch(/^printf %s 'YQo6OmVycm9yOjpi' \| base64 -d \| curl .* --data-binary @-$/)
})
