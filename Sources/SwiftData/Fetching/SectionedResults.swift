/// Results in sections, in the order in which the sections first appear.
public struct SectionedResults<Element, SectionTitle: Hashable>: RandomAccessCollection {
    public typealias Index = Int

    private let sections: [ResultsSection<Element, SectionTitle>]
    private let positions: [SectionTitle: Int]

    init(_ results: FetchResultsCollection<Element>, sections: [(title: SectionTitle, count: Int)]) {
        var start = 0
        self.sections = sections.map { section in
            let first = start
            start += section.count
            return ResultsSection(
                title: section.title, results: FetchResultsCollection(count: section.count) { results[first + $0] })
        }
        positions = Dictionary(self.sections.enumerated().map { ($1.title, $0) }) { first, _ in first }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.count }
    public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

    /// Returns the section of that title, by its hash; `nil` if there is none.
    public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
        positions[title].map { sections[$0] }
    }
}

/// The results whose property has one value.
public struct ResultsSection<Element, SectionTitle: Hashable>: RandomAccessCollection, Identifiable {
    public typealias Index = Int

    /// The value that the results share.
    public let title: SectionTitle
    private let results: FetchResultsCollection<Element>

    init(title: SectionTitle, results: FetchResultsCollection<Element>) {
        self.title = title
        self.results = results
    }

    public var id: SectionTitle { title }
    public var startIndex: Int { 0 }
    public var endIndex: Int { results.endIndex }
    public subscript(position: Int) -> Element { results[position] }
}
