import CoreDataModel

/// A diagram with positions, ready to render.
///
/// All coordinates lie on a grid of ``step`` units, so that edges meet rows at their middle and run in lanes. Boxes
/// start half a step below a grid line.
/// ```
///   y = 5 mod 10   ┌──────────────┐
///                  │ title        │  height 30, port in the middle
///                  ├──────────────┤
///                  │ attribute    │  rows of 20, a port in the middle of each
///                  ├──────────────┤  gap of 10
///                  │ relationship │
///                  └──────────────┘
/// ```
package struct DiagramScene: Sendable {
    package struct Point: Hashable, Sendable {
        package var x: Int
        package var y: Int

        package init(x: Int, y: Int) {
            self.x = x
            self.y = y
        }
    }

    package struct Frame: Hashable, Sendable {
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int

        package var maxX: Int { x + width }
        package var maxY: Int { y + height }

        func overlaps(_ other: Frame, margin: Int) -> Bool {
            x < other.maxX + margin && other.x < maxX + margin && y < other.maxY + margin && other.y < maxY + margin
        }
    }

    package let diagram: ModelDiagram
    /// The frames of the boxes.
    package let frames: [Frame]
    /// The corners of each edge from end to end.
    package let paths: [[Point]]

    package var width: Int { (frames.map(\.maxX) + paths.flatMap { $0.map(\.x) }).max() ?? 0 }
    package var height: Int { (frames.map(\.maxY) + paths.flatMap { $0.map(\.y) }).max() ?? 0 }

    /// Lays out the diagram.
    ///
    /// - Parameter usesPositions: whether to keep Xcode's positions, if every box has one and none overlap.
    package init(_ diagram: ModelDiagram, usesPositions: Bool = true) {
        let sizes = diagram.boxes.map(DiagramMetrics.size)
        let kept = usesPositions ? DiagramLayout.framesFromPositions(diagram, sizes) : nil
        let frames = kept ?? DiagramLayout.frames(diagram, sizes)
        var router = EdgeRouter(diagram: diagram, frames: frames)
        let paths = router.routes()
        // Edges may extend beyond the boxes: the scene includes them.
        let left = min(frames.map(\.x).min() ?? 0, paths.flatMap { $0.map(\.x) }.min() ?? 0)
        let top = min(frames.map(\.y).min() ?? 0, paths.flatMap { $0.map(\.y) }.min() ?? 0)
        self.diagram = diagram
        self.frames = frames.map { Frame(x: $0.x - left, y: $0.y - top, width: $0.width, height: $0.height) }
        self.paths = paths.map { $0.map { Point(x: $0.x - left, y: $0.y - top) } }
    }
}

/// The dimensions of boxes.
package enum DiagramMetrics {
    static let step = 10
    static let titleHeight = 30
    static let rowHeight = 20
    static let padding = 5
    static let sectionGap = 10
    static let inset = 12.0
    static let titleSize = 13.0
    static let rowSize = 12.0
    static let detailSize = 11.0
    static let widest = 500

    static func size(_ box: ModelDiagram.Box) -> (width: Int, height: Int) {
        let title = TextMeasure.width(of: box.name, size: titleSize, isBold: true)
        let rows = box.rows.map { row in
            TextMeasure.width(of: row.name, size: rowSize) + 20 + TextMeasure.width(of: row.detail, size: detailSize)
        }
        let width = max(title, rows.max() ?? 0) + 2 * inset
        let rounded = (Int(width.rounded(.up)) + 2 * step - 1) / (2 * step) * 2 * step
        return (min(max(rounded, 120), widest), bodyOffset(of: box.rows.count, in: box) + padding)
    }

    /// Returns the offset of a row from the box's top.
    package static func bodyOffset(of row: Int, in box: ModelDiagram.Box) -> Int {
        let attributes = box.rows.prefix { $0.kind == .attribute }.count
        let gap = row >= attributes && attributes > 0 && attributes < box.rows.count ? sectionGap : 0
        return titleHeight + padding + row * rowHeight + gap
    }

    /// Returns the offset of a port's middle from the box's top.
    static func portOffset(_ row: Int?, in box: ModelDiagram.Box) -> Int {
        row.map { bodyOffset(of: $0, in: box) + rowHeight / 2 } ?? titleHeight / 2
    }
}
