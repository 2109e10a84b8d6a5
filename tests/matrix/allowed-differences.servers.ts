import { test } from 'vitest'
import { expectConforming, inProcess } from './allowed-differences.ts'

test.each(inProcess.map((group) => [group[0], group] as const))(
  'fails nothing, and exercises all but what is listed: %s and what shares its server',
  (_, group) => expectConforming(group),
)
