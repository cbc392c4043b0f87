import Foundation

/// Renames the classes in a keyed archive.
package enum ArchivedClassNames {
    /// Returns the archive with its class names replaced by `names`; unchanged if it contains none of the keys.
    package static func replaced(in archive: Data, by names: [String: String]) -> Data {
        guard var list = try? PropertyListValue(propertyList: archive), case .dictionary(var top) = list,
            let objects = top["$objects"]?.array
        else { return archive }
        let renamed = objects.map { replaced(in: $0, by: names) }
        guard renamed != objects else { return archive }
        top["$objects"] = .array(renamed)
        list = .dictionary(top)
        return BinaryPropertyListWriter.data(list)
    }

    private static func replaced(in object: PropertyListValue, by names: [String: String]) -> PropertyListValue {
        guard case .dictionary(var entries) = object, let classes = entries["$classes"]?.array,
            let name = entries["$classname"]?.string
        else { return object }
        entries["$classname"] = .string(names[name] ?? name)
        entries["$classes"] = .array(classes.map { names[$0.string ?? ""].map(PropertyListValue.string) ?? $0 })
        return .dictionary(entries)
    }
}
