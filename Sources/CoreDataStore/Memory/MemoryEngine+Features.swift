import CoreDataModel
import CoreDataPrimitives

// What a source in memory can do beside reading and saving.
extension MemoryEngine: WholeSource {}

extension MemoryEngine: MovableSource {
    package var isInFile: Bool { backing is any FileBacking }
    package func move(to path: String) throws { try (backing as? any FileBacking)?.move(to: path) }
}

extension MemoryEngine: CopyTarget {
    /// Each save costs a step for each row that is there.
    package var copiedPortion: Int { 16_384 }
    package func filling(_ body: () throws -> Void) throws { try writingOnce(body) }
    /// Keys follow from the rows.
    package func endCopy(highestKeys: () throws -> [Int: Int64], wasResumed: Bool) {}
    /// What a copy had begun is not in a file that is written at its end.
    package func ownersWithMembers(of property: CompiledProperty, among owners: [Int64]) -> Set<Int64> { [] }
}
