import { test } from 'vitest'
import { defects } from '../../reference/server.ts'
import { expectListed } from './kill-matrix.ts'

test.each(defects)('%s fails its requirement, and what is listed with it, in a whole run', (one) =>
  expectListed(one),
)
