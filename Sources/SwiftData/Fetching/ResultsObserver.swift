import Foundation
import Observation

/// The results of a fetch, kept up to date, in sections where a property names them.
///
///     let observer = try ResultsObserver<Trip, String>(sortBy: [SortDescriptor(\.name)], sectionBy: \.country, modelContext: context)
///     for section in observer.sections ?? [] { print(section.title, section.map(\.name)) }
///
/// It follows unsaved changes of its context and what other contexts and processes save. `SectionTitle` is `Never` without sections.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
    /// The context whose models are observed.
    public let modelContext: ModelContext
    /// The descriptor of the fetch.
    public let fetchDescriptor: FetchDescriptor<Element>
    /// The property whose values name the sections.
    public let sectionBy: PartialKeyPath<Element>?

    private let registrar = ObservationRegistrar()
    private var fetch: FollowedFetch<Element>?

    private init(
        _ descriptor: FetchDescriptor<Element>, _ section: PartialKeyPath<Element>?, _ context: ModelContext
    ) throws {
        modelContext = context
        fetchDescriptor = descriptor
        sectionBy = section
        let name = try section.map { keyPath in
            guard let name = ModelLayout.of(Element.self).name(of: keyPath) else {
                throw SwiftDataError(.unsupportedKeyPath, "\(keyPath) is no stored property of '\(Element.self)'.")
            }
            return name
        }
        fetch = try FollowedFetch(descriptor, section: name, in: context) { [weak self] _ in
            guard let self else { return }
            registrar.withMutation(of: self, keyPath: \.results) {}
            registrar.withMutation(of: self, keyPath: \.sections) {}
        }
    }

    /// The condition of the fetch.
    public var filterBy: Predicate<Element>? { fetchDescriptor.predicate }

    /// The order of the fetch.
    public var sortBy: [SortDescriptor<Element>] { fetchDescriptor.sortBy }

    /// The results as they are now, in order.
    public var results: FetchResultsCollection<Element> {
        registrar.access(self, keyPath: \.results)
        return fetch?.collection ?? FetchResultsCollection(count: 0) { _ in preconditionFailure("no results") }
    }

    /// The results in sections; `nil` without a property that names them.
    public var sections: SectionedResults<Element, SectionTitle>? {
        registrar.access(self, keyPath: \.sections)
        guard sectionBy != nil, let fetch else { return nil }
        return SectionedResults(
            fetch.collection,
            sections: fetch.sections.compactMap { section in
                (section.title as? SectionTitle).map { ($0, section.count) }
            })
    }
}

extension ResultsObserver where SectionTitle == Never {
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContext: ModelContext
    ) throws {
        try self.init(fetchDescriptor, nil, modelContext)
    }

    /// Observes in a new context of the container.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContainer: ModelContainer
    ) throws {
        try self.init(fetchDescriptor, nil, ModelContext(modelContainer))
    }

    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContext: ModelContext
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, modelContext)
    }
}

extension ResultsObserver where SectionTitle == String {
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), sectionBy, modelContext)
    }

    /// Models without a value are in the section "".
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), sectionBy, modelContext)
    }

    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String>,
        modelContext: ModelContext
    ) throws {
        try self.init(fetchDescriptor, sectionBy, modelContext)
    }
}
