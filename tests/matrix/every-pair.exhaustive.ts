import { describe, test } from 'vitest'
import { needsSocket, variants } from '../../reference/server.ts'
import { expectConforming, familyOf } from './allowed-differences.ts'

const inProcess = variants.filter((way) => !needsSocket(way))
const pairs = inProcess.flatMap((one, at) =>
  inProcess
    .slice(at + 1)
    .filter((other) => familyOf(other) !== familyOf(one))
    .map((other) => [one, other] as const),
)

describe('fails nothing, and exercises all but what is listed, under', () => {
  test.each(variants)('%s by itself', (way) => expectConforming([way]))
  test.each(pairs)('%s with %s', (...pair) => expectConforming(pair))
})
