import CoreDataModel

/// Positions the boxes of a diagram: ``LayeredLayout`` arranges each connected component, and the components are packed
/// next to each other.
enum DiagramLayout {
    typealias Frame = DiagramScene.Frame
    typealias Size = (width: Int, height: Int)

    static let margin = 40

    // MARK: Xcode's positions

    /// Returns Xcode's positions, scaled so that boxes of our size fit; `nil` if boxes have no position or overlap.
    static func framesFromPositions(_ diagram: ModelDiagram, _ sizes: [Size]) -> [Frame]? {
        let places = diagram.boxes.compactMap { box -> Frame? in
            func number(_ key: String) -> Int? {
                diagram.positions[box.name]?.attributes[key].flatMap(Double.init)
                    .flatMap { $0.magnitude < 100_000 ? Int($0) : nil }
            }
            guard let x = number("positionX"), let y = number("positionY") else { return nil }
            return Frame(x: x, y: y, width: number("width") ?? 1, height: number("height") ?? 1)
        }
        guard places.count == sizes.count, places.count > 1, isApart(places, margin: 0) else { return nil }
        for percent in stride(from: 100, through: 260, by: 20) {
            let frames = zip(places, sizes).map { place, size in
                Frame(
                    x: snapped(place.x * percent / 100), y: snapped(place.y * percent / 100) + DiagramMetrics.step / 2,
                    width: size.width, height: size.height)
            }
            if isApart(frames, margin: margin) { return frames }
        }
        return nil
    }

    private static func isApart(_ frames: [Frame], margin: Int) -> Bool {
        for (index, frame) in frames.enumerated() {
            if frames[(index + 1)...].contains(where: { $0.overlaps(frame, margin: margin) }) { return false }
        }
        return true
    }

    static func snapped(_ value: Int) -> Int {
        Int((Double(value) / Double(DiagramMetrics.step)).rounded(.down)) * DiagramMetrics.step
    }

    // MARK: Computed positions

    static func frames(_ diagram: ModelDiagram, _ sizes: [Size]) -> [Frame] {
        let parts = components(diagram).map { boxes in
            (boxes: boxes, frames: LayeredLayout(diagram: diagram, sizes: sizes, boxes: boxes).best())
        }
        return pack(parts, count: sizes.count)
    }

    /// Returns the connected components, largest first.
    private static func components(_ diagram: ModelDiagram) -> [[Int]] {
        var part = Array(diagram.boxes.indices)
        func root(_ box: Int) -> Int {
            var box = box
            while part[box] != box { box = part[box] }
            return box
        }
        for edge in diagram.edges {
            let (a, b) = (root(edge.from.box), root(edge.to.box))
            part[max(a, b)] = min(a, b)
        }
        return Dictionary(grouping: diagram.boxes.indices, by: root).values
            .sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
    }

    /// Packs the components on shelves, so that the whole has about the aspect ratio of a page.
    private static func pack(_ parts: [(boxes: [Int], frames: [Frame])], count: Int) -> [Frame] {
        var result = [Frame](repeating: Frame(x: 0, y: 0, width: 0, height: 0), count: count)
        let extents = parts.map { part in
            (width: part.frames.map(\.maxX).max() ?? 0, height: part.frames.map(\.maxY).max() ?? 0)
        }
        let gap = 60
        let area = extents.reduce(0.0) { $0 + Double(($1.width + gap) * ($1.height + gap)) }
        let widest = max(extents.map(\.width).max() ?? 0, Int((area * 1.7).squareRoot()))
        // Components of similar height share a shelf.
        let order = parts.indices.sorted { a, b in
            (parts[a].boxes.count > 1 ? 0 : 1, -extents[a].height, a) < (
                parts[b].boxes.count > 1 ? 0 : 1, -extents[b].height, b
            )
        }
        var (x, y, shelf) = (0, 0, 0)
        // Unconnected boxes stay together: on the current shelf if all fit, else on shelves of their own.
        let alone = order.filter { parts[$0].boxes.count == 1 }
        let aloneWidth = alone.reduce(0) { $0 + extents[$1].width + gap }
        for index in order {
            if x > 0, x + extents[index].width > widest || index == alone.first && x + aloneWidth > widest {
                (x, y, shelf) = (0, y + shelf + gap, 0)
            }
            for (box, frame) in zip(parts[index].boxes, parts[index].frames) {
                result[box] = Frame(
                    x: snapped(frame.x + x), y: frame.y + snapped(y), width: frame.width, height: frame.height)
            }
            x += extents[index].width + gap
            shelf = max(shelf, extents[index].height)
        }
        return result
    }
}
