import CoreData
import CoreDataToolkit

extension UniqueAttributes {
    /// Parses the `--unique` options; several of one entity apply together.
    ///
    /// - Throws: ``ToolFailure`` for an unknown entity or attribute.
    init(options: [String], in model: NSManagedObjectModel) throws {
        var named: [String: [String]] = [:]
        for option in options {
            let parts = option.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                throw ToolFailure("--unique takes Entity.attribute, e.g. Item.name, not '\(option)'.")
            }
            do { _ = try UniqueAttributes([parts[0]: [parts[1]]], in: model) } catch let failure as ToolFailure {
                let place = failure.message.firstRange(of: ": ")?.upperBound ?? failure.message.startIndex
                throw ToolFailure("--unique \(option): \(failure.message[place...])")
            }
            named[parts[0], default: []].append(parts[1])
        }
        try self.init(named, in: model)
        label = "--unique"
    }
}
