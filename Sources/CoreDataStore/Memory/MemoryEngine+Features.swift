import CoreDataModel
import CoreDataPrimitives

// The additional capabilities of a source in memory.
extension MemoryEngine: WholeSource {}

extension MemoryEngine: MovableSource {
    package var isInFile: Bool { backing is any FileBacking }
    package func move(to path: String) throws { try (backing as? any FileBacking)?.move(to: path) }
}

extension MemoryEngine: CopyTarget {
    /// Each save takes time proportional to the number of rows in the source.
    package var copiedPortion: Int { 16_384 }
    package func filling(_ body: () throws -> Void) throws { try writingOnce(body) }
    /// Keys follow from the rows.
    package func endCopy(highestKeys: () throws -> [Int: Int64], wasResumed: Bool) {}
    /// The file is written at the end of a copy, so that an incomplete copy leaves nothing in it.
    package func ownersWithMembers(of property: CompiledProperty, among owners: [Int64]) -> Set<Int64> { [] }
}
