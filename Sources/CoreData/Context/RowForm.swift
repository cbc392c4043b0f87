import CoreDataModel
import CoreDataPrimitives
import CoreDataStore

/// What making rows of one entity needs, in one place; a context keeps it from save to save.
final class RowForm {
    let runtime: EntityRuntime
    // Plain memory: reading an array's element counts references to the array.
    let roles: UnsafeBufferPointer<RowLayout.Role>
    let kinds: UnsafeBufferPointer<ColumnKind>
    let builder: RowBuilder

    init(_ runtime: EntityRuntime) {
        self.runtime = runtime
        let columns = runtime.layout.columns
        roles = Self.copy(columns.map(\.role))
        kinds = Self.copy(runtime.layout.kinds)
        builder = RowBuilder(columnCount: columns.count)
    }

    deinit {
        roles.deallocate()
        kinds.deallocate()
    }

    private static func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
        let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = copy.initialize(from: elements)
        return UnsafeBufferPointer(copy)
    }

    /// Whether every column of the mask is as wide as its word.
    func areFixed(_ mask: IndexMask) -> Bool {
        for column in mask where kinds[column] == .text || kinds[column] == .blob { return false }
        return true
    }
}

extension NSManagedObjectContext {
    func rowForm(of runtime: EntityRuntime) -> RowForm {
        if runtime.ordinal < homeCache.rowForms.count, let known = homeCache.rowForms[runtime.ordinal],
            known.runtime === runtime
        {
            return known
        }
        while homeCache.rowForms.count <= runtime.ordinal { homeCache.rowForms.append(nil) }
        let made = RowForm(runtime)
        homeCache.rowForms[runtime.ordinal] = made
        return made
    }
}
