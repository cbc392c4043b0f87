/// The results of a fetch with a batch size: a model is made, and its batch read, when it is first asked for.
///
/// A collection belongs to the context that made it, and keeps it alive.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    public typealias Index = Int

    public let startIndex = 0
    public let endIndex: Int
    private let element: (Int) -> Element

    init(count: Int, element: @escaping (Int) -> Element) {
        endIndex = count
        self.element = element
    }

    public subscript(position: Int) -> Element {
        precondition(
            indices.contains(position), "Index \(position) is out of the bounds of a fetch with \(endIndex) results.")
        return element(position)
    }
}
