import { killMatrix } from './kill-matrix.ts'

killMatrix(1)
