import { describeConformance } from './index.ts'

describeConformance()
