Creator "x"
grap3 2
2 3
1 31 2

  node [ id 4 label "A" graphics [ x 1.5 ] ]
  node [ id 2 label "B c" group "g" œ
  edge [ source 4 target 2 weight 5 ]
]
