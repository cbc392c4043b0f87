import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A fetch request that a model keeps under a name, or that gives a ``ModelFetchedProperty`` its value.
///
///     ModelFetchRequest("byAuthor", entity: "Book", predicate: "author.name == $NAME", sort: [.ascending("title")])
///     // model.fetchRequestFromTemplate(withName: "byAuthor", substitutionVariables: ["NAME": "Ibsen"])
public struct ModelFetchRequest: Sendable {
    var element: FetchRequestElement

    /// A key by which results are sorted.
    public struct Sort: Sendable {
        let element: FetchRequestElement.Sort

        /// Smallest first; `selector` names how texts compare, such as `localizedStandardCompare:`.
        public static func ascending(_ key: String, selector: String? = nil) -> Sort {
            Sort(element: .init(key: key, isAscending: true, selector: selector))
        }

        /// Largest first; `selector` names how texts compare, such as `localizedStandardCompare:`.
        public static func descending(_ key: String, selector: String? = nil) -> Sort {
            Sort(element: .init(key: key, isAscending: false, selector: selector))
        }
    }

    /// Switches of a request that are not as usual.
    public struct Options: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: Int
        /// Options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Objects of the entity itself only.
        public static let withoutSubentities = Options(rawValue: 1)
        /// Objects are faults whose rows have not been read.
        public static let withoutPropertyValues = Options(rawValue: 2)
        /// The store's data, without the context's unsaved changes.
        public static let withoutPendingChanges = Options(rawValue: 4)
        /// Objects have their values at once.
        public static let withoutFaults = Options(rawValue: 8)
        /// Of equal results one.
        public static let distinctResults = Options(rawValue: 16)
    }

    /// Declares a request for objects of an entity.
    ///
    /// - Parameters:
    ///   - name: the name of the request in the model; a fetched property needs none.
    ///   - entity: the name of the fetched entity.
    ///   - predicate: in the predicate language, with `$variables`.
    ///   - sort: the properties by which the results are sorted.
    ///   - limit: the maximum number of results; 0 for all.
    ///   - offset: the number of results to skip.
    ///   - batchSize: the number of rows that are read together; 0 for all.
    ///   - resultType: the kind of results.
    ///   - options: other differences from a plain request.
    ///   - fileID: the file of the declaration, for messages; omit it.
    ///   - line: the line of the declaration; omit it.
    public init(
        _ name: String = "", entity: String, predicate: String? = nil, sort: [Sort] = [], limit: Int = 0,
        offset: Int = 0, batchSize: Int = 0, resultType: NSFetchRequestResultType = .managedObjectResultType,
        options: Options = [], fileID: String = #fileID, line: Int = #line
    ) {
        element = FetchRequestElement(name: name)
        element.entityName = entity
        element.predicate = predicate
        element.sorts = sort.map(\.element)
        element.fetchLimit = limit
        element.fetchOffset = offset
        element.fetchBatchSize = batchSize
        element.resultType = Int(resultType.rawValue)
        element.includesSubentities = !options.contains(.withoutSubentities)
        element.includesPropertyValues = !options.contains(.withoutPropertyValues)
        element.includesPendingChanges = !options.contains(.withoutPendingChanges)
        element.returnsObjectsAsFaults = !options.contains(.withoutFaults)
        element.returnsDistinctResults = options.contains(.distinctResults)
        element.location = SourceLocation(file: fileID, line: line, column: 1)
    }
}
