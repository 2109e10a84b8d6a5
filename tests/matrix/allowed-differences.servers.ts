import { expect, test } from 'vitest'
import { variants } from '../../reference/server.ts'
import { expectConforming, inProcess, onSockets } from './allowed-differences.ts'
import { unexercised } from './unexercised.ts'

test.each(inProcess.map((group) => [group[0], group] as const))(
  'fails nothing, and exercises all but what is listed: %s and what shares its server',
  (_, group) => expectConforming(group),
)

test('every variant is on in some server, and the table names none that does not exist', () => {
  const groups = [...inProcess, ...onSockets]
  expect(new Set(groups.flat())).toEqual(new Set(variants))
  expect(
    [...Object.keys(unexercised), ...groups.flat()].filter((name) => !variants.includes(name)),
  ).toEqual([])
})
