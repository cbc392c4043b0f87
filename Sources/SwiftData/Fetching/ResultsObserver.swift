import CoreData
import Foundation
import Observation

/// The results of a fetch, kept up to date; in sections if a property names them.
///
///     let observer = try ResultsObserver<Trip, String>(sortBy: [SortDescriptor(\.name)], sectionBy: \.country, modelContext: context)
///     for section in observer.sections ?? [] { print(section.title, section.map(\.name)) }
///
/// It follows unsaved changes of its context, and the saves of other contexts and processes. `SectionTitle` is `Never`
/// without sections.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
    /// The context whose models are observed.
    public let modelContext: ModelContext

    private let registrar = ObservationRegistrar()
    private var descriptor: FetchDescriptor<Element>
    private var section: PartialKeyPath<Element>?
    private var fetch: FollowedFetch<Element>?

    init(
        _ descriptor: FetchDescriptor<Element>, _ section: PartialKeyPath<Element>?, _ context: ModelContext
    ) throws {
        modelContext = context
        self.descriptor = descriptor
        self.section = section
        fetch = try followedFetch(descriptor, section)
    }

    private func followedFetch(
        _ descriptor: FetchDescriptor<Element>, _ section: PartialKeyPath<Element>?
    ) throws -> FollowedFetch<Element> {
        let name = try section.map { keyPath in
            guard let name = ModelLayout.of(Element.self).name(of: keyPath) else {
                throw SwiftDataError(.unsupportedKeyPath, "\(keyPath) is no stored property of '\(Element.self)'.")
            }
            return name
        }
        return try FollowedFetch(descriptor, section: name, in: modelContext) { [weak self] in self?.notify() }
    }

    private func notify() {
        registrar.withMutation(of: self, keyPath: \.results) {}
        registrar.withMutation(of: self, keyPath: \.sections) {}
    }

    // MARK: What is fetched

    /// The descriptor of the fetch. ``filterBy`` and ``sortBy`` change it.
    public var fetchDescriptor: FetchDescriptor<Element> {
        registrar.access(self, keyPath: \.fetchDescriptor)
        return descriptor
    }

    /// The condition of the fetch. Setting it fetches anew before the setter returns.
    ///
    /// A filter that cannot be fetched, which an initializer would refuse, is logged and changes nothing.
    public var filterBy: Predicate<Element>? {
        get { fetchDescriptor.predicate }
        set {
            var changed = descriptor
            changed.predicate = newValue
            refetch(changed, section)
        }
    }

    /// The order of the fetch. Setting it fetches anew before the setter returns.
    ///
    /// An order that cannot be fetched is logged and changes nothing.
    public var sortBy: [SortDescriptor<Element>] {
        get { fetchDescriptor.sortBy }
        set {
            var changed = descriptor
            changed.sortBy = newValue
            refetch(changed, section)
        }
    }

    /// The property whose values name the sections. Setting it fetches again before the setter returns.
    ///
    /// A key path that is no stored property is logged and changes nothing.
    public var sectionBy: PartialKeyPath<Element>? {
        get {
            registrar.access(self, keyPath: \.sectionBy)
            return section
        }
        set { refetch(descriptor, newValue) }
    }

    private func refetch(_ descriptor: FetchDescriptor<Element>, _ section: PartialKeyPath<Element>?) {
        do {
            let fetch = try followedFetch(descriptor, section)
            registrar.withMutation(of: self, keyPath: \.fetchDescriptor) { self.descriptor = descriptor }
            registrar.withMutation(of: self, keyPath: \.sectionBy) { self.section = section }
            self.fetch = fetch
            notify()
        } catch {
            ModelLog.error("A ResultsObserver of '\(Element.self)' keeps its results; the new fetch failed: \(error)")
        }
    }

    // MARK: Results

    /// The current results, in order.
    public var results: FetchResultsCollection<Element> {
        registrar.access(self, keyPath: \.results)
        return fetch?.collection ?? FetchResultsCollection(count: 0) { _ in preconditionFailure("no results") }
    }

    /// The results in sections; `nil` without a property that names them.
    public var sections: SectionedResults<Element, SectionTitle>? {
        registrar.access(self, keyPath: \.sections)
        guard section != nil, let fetch else { return nil }
        return SectionedResults(
            fetch.collection,
            sections: fetch.sections.compactMap { section in
                (section.title as? SectionTitle).map { ($0, section.count) }
            })
    }
}
